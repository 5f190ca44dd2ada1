import { mount } from 'svelte';
import Board from './board.svelte';
import './tide-board.css';

document.body.style.cssText = '--deep:#3a1608;--bright:#ff7a4d';
mount(Board, { target: document.querySelector('#app') });

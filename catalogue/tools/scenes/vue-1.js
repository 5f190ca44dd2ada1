import { computed, createApp, ref } from 'vue/dist/vue.esm-bundler.js';
import './tide-board.css';

const template = `
  <div class="left">
    <h1>Packing list</h1>
    <div>Packed for the crossing</div>
    <div class="big">{{ packed }}/{{ things.length }}</div>
    <div><button @click="add">Add a thing</button><button class="quiet" @click="onlyOpen = !onlyOpen">{{ onlyOpen ? 'Show all' : 'Only open' }}</button></div>
    <small>A Vue component: v-model, v-for and a computed value</small>
  </div>
  <div class="right">
    <label v-for="thing in shown" :key="thing.name" class="row" style="grid-template-columns:40px 1fr auto">
      <input type="checkbox" v-model="thing.done" style="width:26px;height:26px;accent-color:#42b883">
      <span :style="{ textDecoration: thing.done ? 'line-through' : 'none', opacity: thing.done ? .55 : 1 }">{{ thing.name }}</span>
      <b>{{ thing.kilos }} kg</b>
    </label>
  </div>`;

document.body.style.cssText = '--deep:#2c3e50;--bright:#5fe0a5';
createApp({
  template,
  setup() {
    const things = ref(
      [
        ['Paper charts', 2.5, 1],
        ['Kettle', 1.1, 1],
        ['Storm sail', 14, 0],
        ['Hand compass', 0.3, 1],
        ['Wool socks', 0.2, 0],
        ['Sextant', 1.8, 0],
        ['Coffee for a week', 1.5, 1],
      ].map(([name, kilos, done]) => ({ name, kilos, done: done === 1 })),
    );
    const onlyOpen = ref(false);
    const shown = computed(() => things.value.filter((thing) => !onlyOpen.value || !thing.done));
    const packed = computed(() => things.value.filter((thing) => thing.done).length);
    const add = () => things.value.push({ name: 'One more thing', kilos: 0.5, done: false });
    return { things, onlyOpen, shown, packed, add };
  },
}).mount('#app');

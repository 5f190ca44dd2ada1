import { vi } from 'vitest';

// The modules of the browser apps contain the state of one page, so each test file gets new modules and globals. This
// takes half the time of a separate process for each file.
vi.resetModules();
vi.unstubAllGlobals();
vi.useRealTimers();

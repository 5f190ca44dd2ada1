import { vi } from 'vitest';

// The browser's modules hold the state of one page, so each file of tests gets its own modules and globals. This takes
// half the time of a process of its own for each file.
vi.resetModules();
vi.unstubAllGlobals();
vi.useRealTimers();

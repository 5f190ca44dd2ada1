import { inject } from 'vitest';

/** Whether the tests run on Citus. */
export const isCitus = inject('citusWorkers').length > 0;

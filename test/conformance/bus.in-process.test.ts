import { createInProcessBus } from '../../src/bus/in-process.ts';
import { busConformance } from './bus.ts';

busConformance('inside one process', async () => ({
  bus: createInProcessBus(),
  close: async () => undefined,
}));

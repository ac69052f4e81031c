/** A worker thread that reads one calendar. Its file comes from outside: the thread is ended when it takes too long. */
import { parentPort, workerData } from 'node:worker_threads';
import { type CalendarFile, eventsOf } from './events.ts';

parentPort?.postMessage(eventsOf(workerData as CalendarFile));

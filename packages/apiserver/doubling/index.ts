/** Inputs that grow: what the tests of linear work and the benchmark of long turns send. */
export { ALL_DOUBLINGS, type Doubling } from "./all.ts";
export { growthOf } from "./doubling.ts";

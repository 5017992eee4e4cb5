/**
 * What Cluster API's infrastructure providers share here: conditions of both contracts, faults that are reported on the object, bootstrap data. Knows
 * no kind of machine.
 */

/** `true` on an object that is being deleted: it goes although its provider can't be asked; what may be left there is written down. */
export const ABANDON = "slipway.dev/abandon-machine";

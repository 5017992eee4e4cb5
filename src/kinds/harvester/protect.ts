/** Annotation: `true` on an Instance or a pool: it is not deleted, and not chosen when the pool shrinks. */
export const PROTECT = "slipway.dev/protect";

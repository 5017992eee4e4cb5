import { SYSTEMS } from "./systems.ts";

const [home] = SYSTEMS.flatMap((system) => system.home ?? []);

/** The operator's own namespace, and the Secret of the account that serves objects without a providerRef, by default. */
export const { namespace: DEFAULT_NAMESPACE, secret: DEFAULT_SECRET } = home!;

/** The systems that run unless others are named. */
export const DEFAULT_SYSTEMS: readonly string[] = SYSTEMS.filter(({ canRun }) => canRun === undefined).map(
  ({ name }) => name,
);

export type Signal = "SIGINT" | "SIGTERM";

/** Exit codes of a process that a signal ended, as shells number them. */
export const SIGNAL_EXIT: Readonly<Record<Signal, number>> = { SIGINT: 130, SIGTERM: 143 };

/** Resolves at the first Ctrl-C or termination signal, with its name; a second one ends the process at once. */
export function untilStopped(): Promise<Signal> {
  return new Promise((done) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => done(signal));
  });
}

import { Secrets } from "@slipway/base";

/** The secrets of this process: its log, its API objects and what it prints pass through them. */
export const secrets = new Secrets();

/** Prints a line that may hold what a machine, a provider or a server said. */
export function say(line: string): void {
  console.log(secrets.text(line));
}

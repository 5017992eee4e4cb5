import { Secrets } from "@slipway/base";

/** The secrets of this process: its log, its API objects and what it prints pass through them. */
export const secrets = new Secrets();

/** Prints a line that may hold what a machine, a provider or a server said. */
export function say(line: string): void {
  console.log(secrets.text(line));
}

/** Examples and hints in a text, with the command as it was called: `bin/slipway up` for one who typed that. */
export function asCalled(text: string, called = process.env.SLIPWAY_CALLED_AS || "slipway"): string {
  return text.replaceAll(/(?<=^|[\s`(])slipway(?= [a-z<-])/gm, () => called);
}

/** Lines of sh that installers and first boots run, from data. Nothing in a value is seen by the shell that carries it. */
import { Fault } from "@slipway/base";

const ATTEMPTS = [1, 2, 3, 4, 5];
const PAUSE_SECONDS = 5;

/** A word of sh that stands for `text` and nothing else. Throws `Fault` (`Invalid`) for control characters, which end lines on the way. */
export function shellWord(text: string): string {
  if (/[\p{C}\p{Zl}\p{Zp}]/u.test(text))
    throw new Fault("Invalid", "shell command", "a value contains control characters", {
      remedy: "write it as one line",
    });
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A simple command: `words` as they are, whatever they contain. */
export function shellCommand(...words: readonly string[]): string {
  return words.map(shellWord).join(" ");
}

/**
 * Reports to `url` by an empty POST, by curl or wget, whichever there is, several times if need be. Never fails: the system is installed
 * even if nobody could be told.
 */
export function reportCommand(url: string): string {
  const target = shellWord(url);
  const curl = `curl -fsS -m 60 -o /dev/null -X POST --data-binary '' ${target}`;
  const wget = `wget -q -O /dev/null --post-data= ${target}`;
  return `for attempt in ${ATTEMPTS.join(" ")}; do if ${curl} || ${wget}; then break; fi; sleep ${PAUSE_SECONDS}; done`;
}

/** Runs `steps` up to the first that fails, and reports how it ended. The status is that of the steps. */
export function runAndReport(
  steps: readonly string[],
  report: { succeeded: string; failed?: string } | undefined,
): string {
  const all = steps.length === 0 ? "true" : steps.join(" && ");
  if (report === undefined) return all;
  const failed = report.failed === undefined ? "" : `${reportCommand(report.failed)}; `;
  return `if ${all}; then ${reportCommand(report.succeeded)}; else ${failed}false; fi`;
}

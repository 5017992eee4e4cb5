import { systemClock as clock, rfc3339 } from "@slipway/base";
import { say, secrets } from "../outgoing.ts";
import { untilStopped } from "../until-stopped.ts";
import { type Begin, liveLook } from "./live.ts";
import type { Output } from "./options.ts";
import { documentOf } from "./print.ts";
import { Screen } from "./screen.ts";

/** What is shown as a whole: as lines for people, or for programs. `now`: milliseconds since 1970. */
export interface Sheet {
  /** What it shows, without the moment. A watch prints a sheet anew where this has changed. */
  data: object;
  lines(now: number, wide: boolean): string[];
  document(now: number): object;
  names(): string[];
}

/** Prints a sheet once. */
export function printSheet(sheet: Sheet, output: Output | undefined): void {
  const now = clock.now();
  if (output === "json" || output === "yaml") console.log(documentOf(sheet.document(now), output));
  else if (output === "name") for (const name of sheet.names()) say(name);
  else for (const line of sheet.lines(now, output === "wide")) say(line);
}

/**
 * Shows a sheet and what becomes of it until Ctrl-C: on the whole terminal, where there is one and lines are asked for, else each state below
 * the one before. JSON is then a document a line.
 */
export async function watchSheet(begin: Begin, look: () => Sheet, output: Output | undefined): Promise<void> {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  void untilStopped().then(stop);
  const isScreen = process.stdout.isTTY && (output === undefined || output === "wide");
  const screen = isScreen ? new Screen(process.stdout, process.stdin, stop) : undefined;
  let printed = "";
  const show = (): void => {
    const sheet = look();
    const now = clock.now();
    if (screen !== undefined) {
      screen.draw(sheet.lines(now, output === "wide"), `${rfc3339(now)}   q: quit`);
      return;
    }
    const data = JSON.stringify(output === "name" ? sheet.names() : sheet.data);
    if (data !== printed) printNext(sheet, now, output);
    printed = data;
  };
  try {
    await liveLook(clock, { begin, look: show, signal: stopping.signal, ticks: isScreen });
  } finally {
    screen?.close();
  }
}

function printNext(sheet: Sheet, now: number, output: Output | undefined): void {
  if (output === "json") console.log(JSON.stringify(secrets.clean(sheet.document(now))));
  else {
    if (output === "yaml") console.log("---");
    else if (output !== "name") say(`\n${rfc3339(now)}`);
    printSheet(sheet, output);
  }
}

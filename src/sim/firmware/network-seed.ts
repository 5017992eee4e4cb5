/** Where an image in memory finds its bootstrap data: below the address of `ds=nocloud` on the kernel's command line. SIMULATION. */
import { asFault, type Clock, type Http } from "@slipway/base";
import { load } from "js-yaml";
import type { Instance } from "./cloud-init.ts";
import { argument } from "./kernel-command-line.ts";

export type NetworkSeed = { is: "found"; instance: Instance; userData: string } | { is: "failed"; message: string };

const TRIES = 12;
const RETRY_MS = 5_000;

/** The address on a kernel's command line; undefined: there is none. Pure. */
export function seedUrlIn(args: string): string | undefined {
  return /^nocloud(?:-net)?;s=(\S+)$/.exec(argument(args, "ds") ?? "")?.[1];
}

/** Fetches what is below the address; a server that is away is asked again for a minute. Rejects only with the signal's reason. */
export async function seedFrom(
  url: string,
  { http, clock, signal }: { http: Http; clock: Clock; signal: AbortSignal },
): Promise<NetworkSeed> {
  const texts: string[] = [];
  for (const name of ["meta-data", "user-data"]) {
    const got = await fetched(`${url}${name}`, { http, clock, signal });
    if ("failed" in got) return { is: "failed", message: `cloud-init: ${name}: ${got.failed}` };
    texts.push(got.text);
  }
  const [metaData, userData] = texts as [string, string];
  const names = load(metaData) as { "instance-id"?: string; "local-hostname"?: string } | undefined;
  const { "instance-id": id = "", "local-hostname": hostname = "" } = names ?? {};
  return { is: "found", instance: { id, hostname }, userData };
}

async function fetched(
  url: string,
  { http, clock, signal }: { http: Http; clock: Clock; signal: AbortSignal },
): Promise<{ text: string } | { failed: string }> {
  for (let tries = 1; ; tries++) {
    const answer = await http({ method: "GET", url, headers: {}, signal }).catch((error: unknown) => {
      signal.throwIfAborted();
      return asFault(error, "cloud-init").message;
    });
    if (typeof answer !== "string" && answer.status === 200) return { text: answer.body };
    const why = typeof answer === "string" ? answer : `status ${answer.status}`;
    const isAway = typeof answer === "string" || answer.status >= 500;
    if (!isAway || tries === TRIES) return { failed: why };
    await clock.sleep(RETRY_MS, signal);
  }
}

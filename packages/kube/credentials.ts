import { readFile } from "node:fs/promises";
import { type Clock, Fault } from "@slipway/base";

/** An Authorization header, asked for each request. `fresh`: the last one was refused. */
export type Authorization = (fresh: boolean) => Promise<string | undefined>;

/** How long a token that may be renewed outside is used without another look (client-go: one minute). */
const REREAD_MS = 60_000;

/** The same Authorization header for every request; it never changes, not even after a refusal. */
export function fixedToken(header: string): Authorization {
  return async () => header;
}

/** A bearer token in a file, read anew every minute and after a refusal. A file that can't be read keeps the last token. */
export function fileToken(path: string, clock: Clock): Authorization {
  return renewed(clock, async (last) => {
    try {
      const token = (await readFile(path, "utf8")).trim();
      if (token !== "") return `Bearer ${token}`;
    } catch (cause) {
      if (last === undefined) throw new Fault("BadCredentials", path, "the token file can't be read", { cause });
    }
    if (last === undefined) throw new Fault("BadCredentials", path, "the token file is empty");
    return last;
  });
}

/** What an exec plugin or an OIDC provider of a kubeconfig gives. */
export async function pluginCredentials(
  file: string,
  context: string,
  clock: Clock,
): Promise<{ authorization: Authorization; cert?: string; key?: string }> {
  // A large library for a rare case: loaded when it is met.
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  config.loadFromFile(file);
  config.setCurrentContext(context);
  type Options = { headers: Record<string, string>; cert?: string | Buffer; key?: string | Buffer };
  const ask = async (): Promise<Options> => {
    const options: Options = { headers: {} };
    try {
      await config.applyToHTTPSOptions(options);
    } catch (cause) {
      throw new Fault("BadCredentials", file, `the credential plugin of context ${context} failed`, { cause });
    }
    return options;
  };
  const { cert, key } = await ask();
  return {
    authorization: renewed(clock, async () => (await ask()).headers.Authorization),
    ...(cert === undefined ? {} : { cert: String(cert) }),
    ...(key === undefined ? {} : { key: String(key) }),
  };
}

/** Asks at most once a minute, once more after a refusal (`fresh`), and never twice at the same time. */
export function renewed<T>(
  clock: Pick<Clock, "monotonic">,
  ask: (last: T | undefined) => Promise<T>,
): (fresh: boolean) => Promise<T | undefined> {
  let last: T | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<T> | undefined;
  return async (fresh) => {
    if (!fresh && clock.monotonic() - askedAt < REREAD_MS) return last;
    asking ??= ask(last).finally(() => {
      asking = undefined;
    });
    last = await asking;
    askedAt = clock.monotonic();
    return last;
  };
}

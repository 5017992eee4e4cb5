import { type Clock, Fault } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { type Connection, connectionOf, createHttpTransport } from "@slipway/kube/http";

/** Whom the Kubernetes API takes a session for. Kept in memory only; never logged. */
export interface Credentials {
  authorization?: string;
  cert?: string;
  key?: string;
  /** When the token says that it ends, in milliseconds since the epoch. */
  endsAt?: number;
}

/** Where the API is, and how its certificate is verified. What else the operator's own connection holds is never used for a user. */
export type ApiAddress = Pick<Connection, "server" | "ca" | "serverName" | "insecure" | "certificates">;

const LONGEST_TOKEN = 16 * 1024;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const SOCKETS = 16;

/** The credentials of a bearer token. Throws `Unauthorized` for what can be none. */
export function ofToken(token: string): Credentials {
  const bare = token.trim().replace(/^Bearer\s+/i, "");
  if (bare.length > LONGEST_TOKEN || !/^[\x21-\x7e]+$/.test(bare))
    throw new Fault("Unauthorized", "token", "this is no bearer token", {
      remedy: "paste the token alone, in one line",
    });
  const endsAt = endOf(bare);
  return { authorization: `Bearer ${bare}`, ...(endsAt !== undefined && { endsAt }) };
}

/**
 * The credentials of a kubeconfig's current context: a token, or a client certificate with its key. Servers in it are not asked, and files
 * and plugins that it names are neither read nor run. Throws a `Fault` that says what is wrong.
 */
export async function ofKubeconfig(text: string, clock: Clock): Promise<Credentials> {
  const { authorization, cert, key } = connectionOf(text, "kubeconfig", clock);
  const header = await authorization?.(false);
  if (header === undefined && (cert === undefined || key === undefined))
    throw new Fault("Unauthorized", "kubeconfig", "its current context has neither a token nor a client certificate", {
      remedy: "sign in with a token, for instance of `kubectl create token`",
    });
  if (header?.startsWith("Bearer ")) return ofToken(header);
  return {
    ...(header !== undefined && { authorization: header }),
    ...(cert !== undefined && key !== undefined && { cert, key }),
  };
}

/** A way to the API that shows these credentials and no others, over sockets of its own. */
export function transportOf(api: ApiAddress, { authorization, cert, key }: Credentials): Transport {
  const own = { ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
  const { server, ca, serverName, insecure, certificates } = api;
  return createHttpTransport(
    {
      server,
      ...(ca !== undefined && { ca }),
      ...(serverName !== undefined && { serverName }),
      ...(insecure !== undefined && { insecure }),
      ...own,
      ...(authorization !== undefined && { authorization: async () => authorization }),
      ...(certificates !== undefined && {
        certificates: async (fresh: boolean) => {
          const { ca: renewed } = await certificates(fresh);
          return { ...own, ...(renewed !== undefined && { ca: renewed }) };
        },
      }),
    },
    { userAgent: "slipway-console", connections: SOCKETS, maxAnswerBytes: MAX_ANSWER_BYTES },
  );
}

/** When a JWT says that it ends. It is not verified here: the API does that, and this only makes a session shorter. */
function endOf(token: string): number | undefined {
  const end = claimsOf(token)?.exp;
  return typeof end === "number" && Number.isFinite(end) ? end * 1000 : undefined;
}

/** What a JWT claims; undefined: it is none. */
export function claimsOf(token: string): Record<string, unknown> | undefined {
  const [, payload] = /^[\w-]+\.([\w-]+)\.[\w-]*$/.exec(token) ?? [];
  if (payload === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    return typeof claims === "object" && claims !== null ? (claims as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

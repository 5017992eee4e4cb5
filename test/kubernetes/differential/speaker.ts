import { gunzipSync } from "node:zlib";
import { systemClock as clock, deadline } from "@slipway/base";
import { loadConnection } from "@slipway/kube/http";
import { load } from "js-yaml";
import { Agent, type Dispatcher, request } from "undici";
import type { Answer, Asked, Kept, Request, Step } from "./step.ts";

/** The garbage collector looks for new kinds every 30 s; a foreground deletion of a kind that is younger waits for it. */
const PATIENCE_MS = 120_000;
const QUIET_MS = 15_000;

/** One server, spoken to over TLS as any client would. */
export interface Speaker {
  take(step: Step, kept: Kept): Promise<Answer>;
  close(): Promise<void>;
}

/** Reads a kubeconfig and connects as its user. */
export async function speakerTo(kubeconfigFile: string): Promise<Speaker> {
  const { server, ca, cert, key } = await loadConnection({ kubeconfig: kubeconfigFile, env: {}, clock });
  // HTTP/2 would join repeated headers into one.
  const admin = new Agent({ allowH2: false, connect: { ca, cert, key } as object });
  const stranger = new Agent({ allowH2: false, connect: { ca } as object });

  const open = (asked: Request, signal?: AbortSignal) => {
    const { method, path, query = {}, body, headers = {}, as } = asked;
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
      for (const one of [value].flat()) search.append(name, one as string);
    const raw = typeof body === "string" || body instanceof Uint8Array || body === undefined;
    return request(`${server}${path}${search.size === 0 ? "" : `?${search}`}`, {
      method,
      dispatcher: headers.authorization === undefined ? admin : stranger,
      body: raw ? ((body as string | undefined) ?? null) : JSON.stringify(body),
      headers: {
        accept: asked.accept ?? "application/json",
        "user-agent": "differential",
        ...(body !== undefined && { "content-type": asked.contentType ?? "application/json" }),
        ...(as && { "impersonate-user": as.user }),
        ...(as?.groups && { "impersonate-group": [...as.groups] as unknown as string }),
        ...headers,
      },
      ...(signal && { signal }),
    });
  };

  const send = async (asked: Request): Promise<Answer> => {
    const { signal, done } = deadline(clock, PATIENCE_MS);
    try {
      const answer = await open(asked, signal);
      const headers = flat(answer.headers);
      return { status: answer.statusCode, headers, body: parsed(await textOf(answer), headers["content-type"]) };
    } finally {
      done();
    }
  };

  const observe = async (asked: Request, during: readonly Asked[], events: number, kept: Kept): Promise<Answer> => {
    const { signal, done } = deadline(clock, QUIET_MS);
    try {
      const answer = await open(asked, signal);
      const seen: unknown[] = [];
      let rest = "";
      const reading = (async () => {
        if (events === 0) return void answer.body.destroy();
        if (answer.statusCode !== 200)
          return void seen.push(parsed(await answer.body.text(), flat(answer.headers)["content-type"]));
        for await (const chunk of answer.body) {
          rest += chunk.toString();
          const lines = rest.split("\n");
          rest = lines.pop()!;
          seen.push(...lines.map((line) => parsed(line)));
          if (seen.length >= events) break;
        }
        if (rest !== "") seen.push(parsed(rest));
      })();
      for (const next of during) await send(resolve(next, kept));
      await reading.catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      return { status: answer.statusCode, headers: flat(answer.headers), body: seen.slice(0, events) };
    } finally {
      done();
    }
  };

  return {
    async take({ ask, until, watch }, kept) {
      if (watch !== undefined) return await observe(resolve(ask, kept), watch.during ?? [], watch.events, kept);
      const end = clock.now() + PATIENCE_MS;
      for (;;) {
        const asked = resolve(ask, kept);
        const answer = await send(asked);
        if (until === undefined || until(answer)) return answer;
        if (clock.now() > end)
          throw new Error(
            `${server}: ${asked.method} ${asked.path} did not come to what was waited for: ${JSON.stringify(answer.body).slice(0, 600)}`,
          );
        await clock.sleep(50);
      }
    },
    async close() {
      await Promise.all([admin.destroy(), stranger.destroy()]);
    },
  };
}

/** The request of a step, which may depend on what earlier answers have shown. */
export const resolve = (asked: Asked, kept: Kept): Request => (typeof asked === "function" ? asked(kept) : asked);

async function textOf({ headers, body }: Dispatcher.ResponseData): Promise<string> {
  if (headers["content-encoding"] !== "gzip") return await body.text();
  return gunzipSync(await body.bytes()).toString("utf8");
}

function parsed(text: string, type?: string): unknown {
  try {
    return type?.startsWith("application/yaml") ? load(text) : JSON.parse(text);
  } catch {
    return text;
  }
}

function flat(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(", ")]],
    ),
  );
}

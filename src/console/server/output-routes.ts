import { asFault, type Clock, deadline, Fault, isFault } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type KindName, kindNames, resourceOf } from "./kind-name.ts";
import { OutputStream } from "./output-stream.ts";
import type { Desk } from "./ports.ts";
import type { Session } from "./session.ts";
import { sessionOf } from "./session-routes.ts";
import { openStream, requireRoom } from "./stream-reply.ts";

const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
const TIMEOUT_MS = 20_000;
/** Whether a reader still may see the machine is asked again after so long. */
const AGAIN_MS = 30_000;

/** Serial consoles and boot logs. A machine's are for those who may `get` its object: the API is asked with their own credentials, again and again. */
export function outputRoutes(app: FastifyInstance, desk: Desk): void {
  for (const output of ["logs", "serial"] as const)
    app.get(`/console/${output}/:kind`, async (request, reply) => {
      const session = sessionOf(desk, request);
      requireRoom(session);
      const asked = askedFor(request);
      const object = await seen(desk, session, asked);
      const opened = await desk.outputs?.[output]?.(object);
      if (opened === undefined)
        throw new Fault(
          "NotFound",
          asked.name,
          output === "serial" ? "nothing serves its console here" : "nothing here has its log",
        );
      try {
        const reading = openStream(session, reply);
        const stream = new OutputStream(reading, opened.tail, desk.clock, desk.times);
        const left = new AbortController();
        reading.onDrain(() => stream.drained());
        reading.onClose(() => {
          left.abort();
          stream.close();
          opened.done();
        });
        void untilRefused(() => seen(desk, session, asked), object, desk.clock, left.signal).then(reading.end);
      } catch (error) {
        opened.done();
        throw error;
      }
    });
}

interface Asked {
  kind: KindName;
  namespace: string | undefined;
  name: string;
}

function askedFor({ params, query }: FastifyRequest): Asked {
  const [kind] = kindNames((params as { kind: string }).kind, 1);
  const { namespace, name } = query as Record<string, unknown>;
  const isName = (text: unknown): text is string => typeof text === "string" && NAME.test(text);
  if (!isName(name) || (namespace !== undefined && !isName(namespace)))
    throw new Fault("BadRequest", "console", "name the machine: ?namespace=NAMESPACE&name=NAME");
  return { kind: kind!, namespace, name };
}

/** The object, as the API shows it to the user. Rejects with the API's refusal. */
async function seen(desk: Desk, session: Session, { kind, namespace, name }: Asked): Promise<KubeObject> {
  const { signal, done } = deadline(desk.clock, TIMEOUT_MS, session.ended);
  try {
    const { group, version, plural, namespaced } = await resourceOf(kind, session.transport, signal);
    const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
    if (namespaced && namespace === undefined) throw new Fault("BadRequest", kind.text, "it has a namespace: name it");
    const path = `${root}${namespaced ? `/namespaces/${namespace}` : ""}/${plural}/${name}`;
    const { status, body } = await session.transport.request({ method: "GET", path, signal });
    if (status === 200) return body as KubeObject;
    const { message = `it answered ${status}` } = (body ?? {}) as { message?: string };
    throw new Fault(CODES[status] ?? "Unavailable", "Kubernetes API", message);
  } catch (error) {
    if (isFault(error, "Unauthorized")) desk.sessions.end(session);
    throw error;
  } finally {
    done();
  }
}

const CODES: Readonly<Record<number, Fault["code"]>> = { 401: "Unauthorized", 403: "Forbidden", 404: "NotFound" };

/** Resolves when `look` does not show the user this very object any more, or the signal aborts. An API that does not answer changes nothing. */
async function untilRefused(
  look: () => Promise<KubeObject>,
  { metadata: { name, uid } }: KubeObject,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await clock.sleep(AGAIN_MS, signal).catch(() => {});
    if (signal.aborted) return;
    const now = await look().catch((error: unknown) => asFault(error, name));
    const isRefused =
      now instanceof Fault ? isFault(now, "Unauthorized", "Forbidden", "NotFound") : now.metadata.uid !== uid;
    if (isRefused) return;
  }
}

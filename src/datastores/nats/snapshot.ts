import { Fault } from "@slipway/base";
import type { NatsSession } from "./session.ts";

export interface CopyStream {
  from: NatsSession;
  to: NatsSession;
  stream: string;
  progress(done: number): void;
}

const CHUNK_BYTES = 128 * 1024;

/**
 * Copies a stream by NATS' own backup and restore: every message keeps its number, which is what Kubernetes has as resource version. The
 * target must not have the stream. Chunks are passed on as they come, and the next one is asked for when the target has the last.
 */
export async function copyStream({ from, to, stream, progress }: CopyStream): Promise<void> {
  const inbox = `_INBOX.slipway.${from.connection.info?.client_id ?? 0}.${stream}`;
  const chunks = from.connection.subscribe(inbox);
  try {
    const backup = await from.api(`STREAM.SNAPSHOT.${stream}`, {
      ...{ deliver_subject: inbox, no_consumers: true, chunk_size: CHUNK_BYTES },
    });
    const { config, state } = backup as unknown as { config: object; state: { messages: number; bytes: number } };
    await refuseWithoutRoom(to, stream, state.bytes);
    const restore = await to.api(`STREAM.RESTORE.${stream}`, { config, state });
    const target = String(restore.deliver_subject);
    const incoming = chunks[Symbol.asyncIterator]();
    let bytes = 0;
    for (;;) {
      const { value: chunk, done } = await from.wait(() => incoming.next());
      if (done) throw new Fault("Unavailable", stream, "its backup broke off", { remedy: "it is tried again" });
      if (chunk.data.length === 0) {
        if (chunk.headers !== undefined && chunk.headers.code >= 400)
          throw new Fault("Unavailable", stream, `its backup broke off (${chunk.headers.description})`);
        break;
      }
      const taken = await to.request(target, chunk.data);
      if (taken.length > 0) to.answer(taken);
      bytes += chunk.data.length;
      // A backup is compressed: the share of its bytes is the least that is there.
      progress(Math.min(state.messages, Math.floor((state.messages * bytes) / Math.max(1, state.bytes))));
      chunk.respond();
    }
    to.answer(await to.request(target, new Uint8Array()));
    progress(state.messages);
  } finally {
    chunks.unsubscribe();
  }
}

/** A restore is not held against the account's limit by every server; writes are refused only after it. */
async function refuseWithoutRoom(to: NatsSession, stream: string, bytes: number): Promise<void> {
  const { storage, limits } = (await to.api("INFO")) as unknown as { storage: number; limits: { max_storage: number } };
  if (limits.max_storage < 0 || storage + bytes <= limits.max_storage) return;
  throw new Fault(
    "NoCapacity",
    stream,
    `it has ${bytes} bytes, and the account has ${limits.max_storage - storage} left`,
    {
      remedy: "raise the account's limits for JetStream",
    },
  );
}

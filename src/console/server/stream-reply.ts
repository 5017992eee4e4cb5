import { Fault } from "@slipway/base";
import type { FastifyReply } from "fastify";
import type { Sink } from "./event-stream.ts";
import type { Session } from "./session.ts";

/** Of one session: pages, and the consoles and logs that they show. */
const MOST_STREAMS = 12;

/** An answer that goes on until its reader leaves or the session ends. */
export interface StreamReply extends Sink {
  /** Ends the answer once what was written has gone. */
  end(): void;
  onDrain(listener: () => void): void;
  onClose(listener: () => void): void;
}

/** Throws `Throttled` where a session has as many streams as it may have. */
export function requireRoom({ streams }: Session): void {
  if (streams < MOST_STREAMS) return;
  throw new Fault("Throttled", "console", `more than ${MOST_STREAMS} pages and consoles are open`, {
    remedy: "close some of them",
  });
}

/** Begins an answer of server-sent events. Throws as `requireRoom`, and where the reader has left already. */
export function openStream(session: Session, reply: FastifyReply): StreamReply {
  requireRoom(session);
  const { raw } = reply;
  if (raw.destroyed) throw new Fault("LostAnswer", "console", "the reader has left");
  reply.hijack();
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    "content-type": "text/event-stream; charset=utf-8",
    "x-accel-buffering": "no",
  });
  const end = (): void => void raw.end();
  session.streams++;
  session.ended.addEventListener("abort", end, { once: true });
  raw.once("close", () => {
    session.streams--;
    session.ended.removeEventListener("abort", end);
  });
  return {
    write: (text) => raw.write(text),
    destroy: () => raw.destroy(),
    end,
    onDrain: (listener) => void raw.on("drain", listener),
    onClose: (listener) => void raw.once("close", listener),
  };
}

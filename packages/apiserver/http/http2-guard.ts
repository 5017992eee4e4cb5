import type { Http2SecureServer, SecureServerOptions, ServerHttp2Session } from "node:http2";
import type { Clock } from "@slipway/base";

/** Requests at one time on one connection, as upstream's. */
const STREAMS = 100;
/** A connection without a request ends after this long, as upstream's. */
const IDLE_MS = 90_000;
/** Frames that ask for nothing but an answer (PING, SETTINGS): so many at once, and so many a second. */
const IDLE_FRAMES = 100;
const IDLE_FRAMES_A_SECOND = 10;

/** What one HTTP/2 connection may cost. */
export const SESSION_OPTIONS: SecureServerOptions = {
  settings: {
    enablePush: false,
    maxConcurrentStreams: STREAMS,
    // Upstream's, so that a body needs few round trips.
    initialWindowSize: 256 * 1024,
    maxHeaderListSize: 32 * 1024,
  },
  maxHeaderListPairs: 128,
  maxSettings: 32,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 100,
  // Streams that a client opens only to reset them again (CVE-2023-44487).
  streamResetBurst: 200,
  streamResetRate: 33,
};

/** Ends HTTP/2 connections that rest, and those that ask for nothing but answers. */
export function guardSessions(server: Http2SecureServer, clock: Clock): void {
  server.on("session", (session: ServerHttp2Session) => {
    let requests = 0;
    session.on("stream", (stream) => {
      requests++;
      stream.once("close", () => requests--);
    });
    session.setTimeout(IDLE_MS, () => {
      if (requests === 0) session.close();
    });
    let left = IDLE_FRAMES;
    let at = clock.now();
    const count = (): void => {
      const now = clock.now();
      left = Math.min(IDLE_FRAMES, left + (Math.max(0, now - at) / 1000) * IDLE_FRAMES_A_SECOND) - 1;
      at = now;
      if (left < 0) session.destroy();
    };
    session.on("ping", count);
    session.on("remoteSettings", count);
  });
}

import { type Clock, Fault } from "@slipway/base";
import { mediaType, PROTOBUF } from "../body/body.ts";
import { MAX_BODY_BYTES, tooLarge } from "../model/body-limits.ts";
import type { PendingBody } from "../model/request.ts";
import { refusal } from "../model/status.ts";
import type { FaceRequest, FaceResponse } from "./exchange.ts";

export interface BodyOptions {
  clock: Clock;
  /** A body that is not there after so long is given up. */
  bodyMs: number;
  /** The client waits for `100 Continue` before it sends the body (`Expect: 100-continue`). */
  waits: boolean;
}

/** A request's body that is still with the client; undefined when the request has none. */
export function pendingBody(
  request: FaceRequest,
  response: FaceResponse,
  { clock, bodyMs, waits }: BodyOptions,
): PendingBody | undefined {
  const { method, headers } = request;
  if (method === "GET" || method === "HEAD") return undefined;
  const announced = headers["content-length"] === undefined ? undefined : Number(headers["content-length"]);
  return {
    async read(take) {
      if (announced !== undefined && announced > MAX_BODY_BYTES) throw tooLarge();
      take(announced ?? 0);
      if (waits) response.writeContinue();
      const late = Promise.withResolvers<never>();
      const timer = clock.after(bodyMs, () => late.reject(tooSlow()));
      try {
        const whole = await Promise.race([collect(request, announced === undefined ? take : () => {}), late.promise]);
        return whole.length > 0 && mediaType(headers["content-type"]) === PROTOBUF ? whole : whole.toString("utf8");
      } finally {
        timer.cancel();
      }
    },
  };
}

/** All bytes up to the end. Stops reading, without breaking the connection, when there are too many. */
function collect(request: FaceRequest, take: (bytes: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (act: () => void): void => {
      request.off("data", onData);
      act();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      try {
        if (size > MAX_BODY_BYTES) throw tooLarge();
        take(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        request.pause();
        settle(() => reject(error));
      }
    };
    request.on("data", onData);
    request.once("end", () => settle(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))));
    // An error is dear to make, and every request closes, most of them after their end.
    const onLost = (): void => settle(() => request.readableEnded || reject(clientLeft()));
    request.once("close", onLost);
    request.once("error", onLost);
  });
}

function clientLeft(): Fault {
  return new Fault("Unavailable", "request", "the client closed the connection before it had sent the body");
}

function tooSlow(): Fault {
  return refusal("Timeout", "Timeout: request did not complete within the allotted timeout", {});
}

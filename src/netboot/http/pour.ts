import type { ServerResponse } from "node:http";
import type { OpenFile } from "../files/source.ts";
import type { OwnBuffers } from "./chunk-buffers.ts";

/** A file that fills memory of ours. */
export type Filling = OpenFile & Required<Pick<OpenFile, "fill">>;

interface Piece {
  buffer: Buffer;
  bytes: number;
  filled: number | Promise<number>;
}

/**
 * Sends the part of the file from `first` to before `end`, piece by piece, and ends the answer. What has to be waited for is read while the piece before it
 * goes out; what does not, once that has gone out. Clients take turns after each piece. Rejects when the file fails, is shorter, or the client is gone.
 */
export async function pour(
  file: Filling,
  { first, end }: { first: number; end: number },
  response: ServerResponse,
  buffers: OwnBuffers,
): Promise<void> {
  let at = first;
  let next: Piece | undefined = pieceAt(file, at, end, buffers);
  while (next !== undefined) {
    const { buffer, bytes, filled }: Piece = next;
    const isWaitedFor: boolean = typeof filled !== "number";
    const got: number = isWaitedFor ? await filled : (filled as number);
    if (got !== bytes) throw new RangeError(`${got} of ${bytes} bytes at ${at}`);
    at += bytes;
    next = isWaitedFor ? pieceAt(file, at, end, buffers) : undefined;
    await written(response, buffer, bytes);
    buffers.give(buffer);
    next ??= pieceAt(file, at, end, buffers);
  }
  await unlessGone(response, (done) => response.end(done));
}

function pieceAt(file: Filling, at: number, end: number, buffers: OwnBuffers): Piece | undefined {
  if (at === end) return undefined;
  const buffer = buffers.take();
  // Up to the next border of pieces, so that they begin where the kernel's pages do.
  const bytes = Math.min(buffer.length - (at % buffer.length), end - at);
  const filled = file.fill(bytes === buffer.length ? buffer : buffer.subarray(0, bytes), at);
  // Who waits for it gets the error; nobody does when the client has gone.
  if (typeof filled !== "number") filled.catch(() => {});
  return { buffer, bytes, filled };
}

/** Resolves once the socket has taken all of it and others have had their turn. */
function written(response: ServerResponse, buffer: Buffer, bytes: number): Promise<void> {
  const chunk = bytes === buffer.length ? buffer : buffer.subarray(0, bytes);
  return unlessGone(response, (done) => {
    response.write(chunk, (error) => (error ? done(error) : setImmediate(done)));
  });
}

/** Resolves when `step` is done. Rejects when the client closes the connection before. */
function unlessGone(response: ServerResponse, step: (done: (error?: Error) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = (): void =>
      reject(Object.assign(new Error("the client is gone"), { code: "ERR_STREAM_PREMATURE_CLOSE" }));
    if (response.destroyed) return gone();
    response.once("close", gone);
    step((error) => {
      response.off("close", gone);
      if (error) gone();
      else resolve();
    });
  });
}

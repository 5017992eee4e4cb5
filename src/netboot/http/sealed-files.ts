import { cryptoRandom, Fault, offLoop, uuid } from "@slipway/base";
import type { FileSource, OpenFile } from "../files/source.ts";

/**
 * Shows a source's files encrypted to an agent's key (age-encryption.org/v1), each time they are opened anew: no two answers have the same
 * bytes, so there are no parts of one. The plain bytes are read as the encrypted ones are taken, and never kept. `keyOf` is asked at
 * each opening, since a machine has another key at each boot; without one, or with one that is none, no file is opened (`Fault`).
 */
export function sealedFiles(files: FileSource, keyOf: () => string | undefined): FileSource {
  return {
    async open(name, asker) {
      // Before anything is awaited: the caller has just found that this key may have the file.
      const key = keyOf();
      const file = await files.open(name, asker);
      if (file === undefined) return undefined;
      try {
        return await sealed(file, key);
      } catch (error) {
        await file.close();
        throw error;
      }
    },
  };
}

/** Throws a `Fault`: `Conflict` where there is no key, `Invalid` unless something can be encrypted to it. */
export async function checkAgentKey(key: string | undefined): Promise<void> {
  await encrypted(new ReadableStream({ start: (controller) => controller.close() }), key);
}

async function sealed(file: OpenFile, key: string | undefined): Promise<OpenFile> {
  const stream = await encrypted(streamOf(file), key);
  const size = stream.size(file.size);
  const reader = stream.getReader();
  let at = 0;
  let left: Buffer = Buffer.alloc(0);
  const take = async (length: number): Promise<Uint8Array> => {
    const parts = [left];
    for (let have = left.length; have < length; ) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(Buffer.from(value.buffer, value.byteOffset, value.length));
      have += value.length;
    }
    const bytes = Buffer.concat(parts);
    left = bytes.subarray(length);
    return bytes.subarray(0, length);
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    size,
    version: uuid(cryptoRandom),
    sequential: true,
    async read(offset, length) {
      if (offset !== at) throw new RangeError(`a sealed file is read from front to end: at ${at}, not ${offset}`);
      at += Math.min(length, size - offset);
      const bytes = last.then(() => take(length));
      last = bytes.catch(() => {});
      return bytes;
    },
    async close() {
      await reader.cancel().catch(() => {});
      await file.close();
    },
  };
}

/** As much is encrypted at a time. */
const STEP_BYTES = 256 * 1024;

function streamOf(file: OpenFile): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const length = Math.min(STEP_BYTES, file.size - at);
        if (length === 0) return controller.close();
        const bytes = await file.read(at, length);
        // A part must not pass for the whole: the stream's end is authentic, too.
        if (bytes.length !== length) throw new RangeError(`${bytes.length} of ${length} bytes at ${at}`);
        at += length;
        controller.enqueue(bytes);
      },
    },
    { highWaterMark: 1 },
  );
}

async function encrypted(stream: ReadableStream<Uint8Array>, key: string | undefined) {
  if (key === undefined)
    throw new Fault("Conflict", "agent key", "the host's agent has none that secrets could be encrypted to", {
      remedy: `wait a minute when it has just registered, since it makes one then; else start it into the agent of this release ("make agent" builds it); then give the order again`,
    });
  // Not before it is needed: a netboot that seals nothing starts without it.
  const { Encrypter } = await offLoop(import("age-encryption"));
  const encrypter = new Encrypter();
  try {
    encrypter.addRecipient(key);
    return await offLoop(encrypter.encrypt(stream));
  } catch (cause) {
    throw new Fault("Invalid", "agent key", "nothing can be encrypted to it", {
      remedy: "start the host's agent again: it makes a new key",
      cause,
    });
  }
}

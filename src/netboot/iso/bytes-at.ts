import { Fault } from "@slipway/base";
import type { OpenFile } from "../files/source.ts";

/** An image as this folder reads it. */
export type Image = Pick<OpenFile, "size" | "read">;

/** Just these bytes of the image. Throws a `Fault` (`Invalid`) when they lie beyond its end: an image is not trusted. */
export async function bytesAt(image: Image, offset: number, length: number): Promise<Buffer> {
  if (offset + length > image.size) throw malformed(`points to ${offset + length}, beyond its end at ${image.size}`);
  const bytes = await image.read(offset, length);
  if (bytes.length !== length) throw malformed(`ends at ${offset + bytes.length} now`);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** The `Fault` (`Invalid`) of an image that is not as it should be. */
export function malformed(why: string): Fault {
  return new Fault("Invalid", "ISO image", why);
}

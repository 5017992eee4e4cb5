import type { Option } from "./packet.ts";

/** What server and client agree on for one transfer. */
export interface Terms {
  /** Bytes of data a block (RFC 2348); 512 unless agreed otherwise. */
  blockBytes: number;
  /** Blocks that are sent before an acknowledgement is awaited (RFC 7440); 1 unless agreed otherwise. */
  window: number;
  /** The wait before a repetition as the client wants it (RFC 2349); undefined: the server chooses. */
  timeoutMs: number | undefined;
  /** The size was asked for (RFC 2349): such a client may end the transfer once it knows it. */
  sized: boolean;
  /** What the acknowledgement says; empty: none is sent, and data follows at once. */
  acknowledged: readonly Option[];
}

export interface Limits {
  /** The largest block. 1468 fills an Ethernet frame of 1500; less for VLAN or VXLAN, where fragments are lost. */
  blockBytes: number;
  /** The most blocks in flight. */
  window: number;
}

/** RFC 2348: 8 to 65464. */
const MIN_BLOCK_BYTES = 8;
export const MAX_BLOCK_BYTES = 65_464;

/**
 * What may be in flight. Receivers have socket buffers of about 200 KiB, in which a packet takes up to twice its size;
 * the end of a window that does not fit costs a whole wait, since nothing after it shows the loss.
 */
export const MAX_WINDOW_BYTES = 96 * 1024;

/** RFC 2349 allows 255 s; a client that is gone would keep its place for minutes. */
const MAX_TIMEOUT_S = 30;

/**
 * Answers the options of a request. Only those are acknowledged that will be honoured, never with more than was asked for; unknown,
 * malformed and repeated ones are passed over, as RFC 2347 has it. Names are read without regard to case.
 */
export function agree(asked: readonly Option[], size: number, limits: Limits): Terms {
  const wanted = new Map<string, number>();
  for (const [name, value] of asked) {
    const key = name.toLowerCase();
    if (/^\d{1,15}$/.test(value) && !wanted.has(key)) wanted.set(key, Number(value));
  }
  const acknowledged: Option[] = [];
  const accept = (name: string, value: number): number => {
    acknowledged.push([name, String(value)]);
    return value;
  };

  const block = wanted.get("blksize") ?? 0;
  const blockBytes = block < MIN_BLOCK_BYTES ? 512 : accept("blksize", Math.min(block, limits.blockBytes));
  const sized = wanted.has("tsize");
  if (sized) accept("tsize", size);
  const timeout = wanted.get("timeout") ?? 0;
  const timeoutMs = timeout < 1 || timeout > MAX_TIMEOUT_S ? undefined : accept("timeout", timeout) * 1000;
  const blocks = wanted.get("windowsize") ?? 0;
  const most = Math.max(1, Math.min(limits.window, Math.floor(MAX_WINDOW_BYTES / blockBytes)));
  const window = blocks < 1 ? 1 : accept("windowsize", Math.min(blocks, most));
  return { blockBytes, window, timeoutMs, sized, acknowledged };
}

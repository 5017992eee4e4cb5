import { Fault } from "@slipway/base";
import type { Dispatcher } from "undici";
import { EventPipe } from "./event-pipe.ts";
import { LineReader } from "./ndjson.ts";
import type { ApiAnswer, WatchEvent, WatchStream } from "./transport.ts";

const MAX_ANSWER_BYTES = 256 * 1024 * 1024;
/** Objects are at most 3 MiB when written as JSON by kube-apiserver's limits; escapes can make them longer. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const MAX_QUEUED_EVENTS = 4096;

/** What an exchange's parts are given to. */
export interface Receive {
  /** True: the body is a stream, and the exchange counts as answered from here on. */
  start(status: number, headers: Record<string, string>, controller: Dispatcher.DispatchController): boolean;
  data(chunk: Buffer): void;
  end(error?: unknown): void;
  answered(): void;
}

/** Holds a whole body. */
export class WholeAnswer implements Receive {
  readonly #resolve: (answer: ApiAnswer) => void;
  #status = 0;
  #headers: Record<string, string> = {};
  #chunks: Buffer[] = [];
  #size = 0;

  readonly #most: number;

  constructor(resolve: (answer: ApiAnswer) => void, most: number = MAX_ANSWER_BYTES) {
    this.#resolve = resolve;
    this.#most = most;
  }

  start(status: number, headers: Record<string, string>): boolean {
    this.#status = status;
    this.#headers = headers;
    this.#chunks = [];
    this.#size = 0;
    return false;
  }

  data(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > this.#most)
      throw new Fault("TooLarge", "Kubernetes API", `an answer is longer than ${this.#most} bytes`);
    this.#chunks.push(chunk);
  }

  end(): void {}

  answered(): void {
    this.#resolve(this.answer());
  }

  answer(): ApiAnswer {
    const text = Buffer.concat(this.#chunks).toString("utf8");
    return { status: this.#status, headers: this.#headers, body: bodyOf(text, this.#headers) };
  }
}

/** Turns a body into watch events as its lines come; an error status becomes an answer. */
export class StreamedAnswer implements Receive {
  readonly #on: string;
  readonly #resolve: (answer: WatchStream | ApiAnswer) => void;
  readonly #lines = new LineReader(MAX_LINE_BYTES);
  readonly #refusal: WholeAnswer;
  #pipe: EventPipe<WatchEvent> | undefined;
  #controller: Dispatcher.DispatchController | undefined;

  constructor(on: string, resolve: (answer: WatchStream | ApiAnswer) => void) {
    this.#on = on;
    this.#resolve = resolve;
    this.#refusal = new WholeAnswer(resolve);
  }

  start(status: number, headers: Record<string, string>, controller: Dispatcher.DispatchController): boolean {
    if (status >= 300) return this.#refusal.start(status, headers);
    this.#controller = controller;
    this.#pipe = new EventPipe(MAX_QUEUED_EVENTS, (full) => (full ? controller.pause() : controller.resume()));
    return true;
  }

  data(chunk: Buffer): void {
    if (this.#pipe === undefined) this.#refusal.data(chunk);
    else for (const line of this.#lines.push(chunk)) this.#pipe.put(eventOf(line, this.#on));
  }

  end(error?: unknown): void {
    this.#pipe?.end(error);
  }

  answered(): void {
    const close = (): void => this.#controller?.abort(new DOMException("the watch was closed", "AbortError"));
    if (this.#pipe === undefined) this.#refusal.answered();
    else this.#resolve(this.#pipe.values(close));
  }
}

function eventOf(line: string, on: string): WatchEvent {
  try {
    return JSON.parse(line) as WatchEvent;
  } catch (cause) {
    throw new Fault("LostAnswer", on, "a line of the stream is not JSON", { cause });
  }
}

function bodyOf(text: string, headers: Record<string, string>): unknown {
  if (!/[/+]json\b/.test(headers["content-type"] ?? "")) return text;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Fault("LostAnswer", "Kubernetes API", "the answer is not the JSON it claims to be", { cause });
  }
}

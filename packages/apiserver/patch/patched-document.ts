import { type JsonObject, member, setMember, shallowCopy } from "../json/members.ts";
import { isRecord } from "../json/value.ts";
import { ChunkedList } from "./chunked-list.ts";
import { listIndex } from "./json-pointer.ts";

/** An operation that finds nothing to work on. */
export class DoesNotApply extends Error {}

/** Copies that come to more than a patch may copy. */
export class CopiesTooMuch extends DoesNotApply {}

/** Lists up to this length are quick enough as they are. */
const SHORT = 1024;

type Container = JsonObject | unknown[] | ChunkedList;

/**
 * A JSON document at work: each container that is changed is copied once, long lists into chunks, so that an operation costs what it
 * says and not what the document holds. What it is made of is never changed.
 */
export class PatchedDocument {
  #root: unknown;
  #copyable: number;
  /** Containers made here, which nobody else knows. */
  readonly #own = new Set<object>();
  #hasChunks = false;
  /** How many members objects have, where that was asked. */
  readonly #sizes = new Map<object, number>();

  /** `maxCopied`: what `copyOf` may come to in all, in bytes of JSON. */
  constructor(target: unknown, maxCopied: number) {
    this.#root = target;
    this.#copyable = maxCopied;
  }

  /** The value at a path; undefined where the last member is absent. All before it must be there. */
  at(path: readonly string[]): unknown {
    let at = this.#root;
    for (const token of path) at = childOf(at, token);
    return at;
  }

  /** A copy of its own of what is at a path. */
  copyOf(path: readonly string[]): unknown {
    const text = this.#text(this.at(path));
    if (text === undefined) return undefined;
    this.#copyable -= Buffer.byteLength(text);
    if (this.#copyable < 0) throw new CopiesTooMuch("the copies grow beyond all bounds");
    return JSON.parse(text) as unknown;
  }

  /** Whether the value at a path equals `value`; an absent one is null. */
  holds(path: readonly string[], value: unknown): boolean {
    return this.#equal(this.at(path) ?? null, value);
  }

  /** Another document in the place of this one. */
  become(value: unknown): void {
    if (typeof value !== "object" || value === null) throw new DoesNotApply("a document is an object or a list");
    this.#root = value;
  }

  add(path: readonly string[], added: unknown): void {
    const { container, token } = this.#parentOf(path);
    if (isList(container)) {
      const at = token === "-" ? container.length : index(token, container.length + 1);
      if (Array.isArray(container)) container.splice(at, 0, added);
      else container.insert(at, added);
    } else this.#set(container, token, added);
  }

  replace(path: readonly string[], put: unknown): void {
    const { container, token } = this.#parentOf(path);
    if (isList(container)) setItem(container, index(token, container.length), put);
    else this.#set(container, token, put);
  }

  remove(path: readonly string[]): void {
    const { container, token } = this.#parentOf(path);
    if (isList(container)) {
      const at = index(token, container.length);
      if (Array.isArray(container)) container.splice(at, 1);
      else container.remove(at);
      return;
    }
    if (!Object.hasOwn(container, token)) throw new DoesNotApply(`there is no member ${JSON.stringify(token)}`);
    delete container[token];
    this.#resize(container, -1);
  }

  /** The document as plain JSON; not to be worked on afterwards. */
  finished(): unknown {
    return this.#plain(this.#root);
  }

  /** The container of the last step, made the document's own as all above it. */
  #parentOf(path: readonly string[]): { container: Container; token: string } {
    let container = this.#owned(this.#root, path[0]!);
    this.#root = container;
    for (const [i, token] of path.slice(0, -1).entries()) {
      const child = this.#owned(childOf(container, token), path[i + 1]!);
      if (isList(container)) setItem(container, index(token, container.length), child);
      else this.#set(container, token, child);
      container = child;
    }
    return { container, token: path.at(-1)! };
  }

  #owned(value: unknown, token: string): Container {
    if (!isList(value) && !isRecord(value)) throw new DoesNotApply(`nothing lies below ${JSON.stringify(token)}`);
    if (this.#own.has(value)) return value;
    const copy = isList(value) ? listCopy(value) : shallowCopy(value);
    this.#hasChunks ||= copy instanceof ChunkedList;
    this.#own.add(copy);
    return copy;
  }

  #set(container: JsonObject, name: string, value: unknown): void {
    if (!Object.hasOwn(container, name)) this.#resize(container, 1);
    setMember(container, name, value);
  }

  #resize(object: JsonObject, by: number): void {
    const size = this.#sizes.get(object);
    if (size !== undefined) this.#sizes.set(object, size + by);
  }

  #equal(found: unknown, value: unknown): boolean {
    if (found === value) return true;
    if (isList(found)) {
      if (!Array.isArray(value) || found.length !== value.length) return false;
      return value.every((item, i) => this.#equal(found.at(i), item));
    }
    if (!isRecord(found) || !isRecord(value)) return false;
    const names = Object.keys(value);
    return (
      names.length === this.#sizeOf(found) &&
      names.every((name) => Object.hasOwn(found, name) && this.#equal(found[name], value[name]))
    );
  }

  #sizeOf(object: JsonObject): number {
    let size = this.#sizes.get(object);
    if (size === undefined) {
      size = Object.keys(object).length;
      this.#sizes.set(object, size);
    }
    return size;
  }

  #text(value: unknown): string | undefined {
    // Asking for each value costs many times what the text does.
    if (!this.#hasChunks) return JSON.stringify(value);
    return JSON.stringify(value, (_, inner: unknown) => (inner instanceof ChunkedList ? inner.items() : inner));
  }

  #plain(value: unknown): unknown {
    if (value instanceof ChunkedList) return value.items().map((item) => this.#plain(item));
    if (typeof value !== "object" || value === null || !this.#own.has(value)) return value;
    if (Array.isArray(value)) return value.map((item) => this.#plain(item));
    const object = value as JsonObject;
    for (const name of Object.keys(object)) {
      const inner = object[name];
      const plain = this.#plain(inner);
      if (plain !== inner) setMember(object, name, plain);
    }
    return object;
  }
}

function isList(value: unknown): value is unknown[] | ChunkedList {
  return Array.isArray(value) || value instanceof ChunkedList;
}

function listCopy(list: unknown[] | ChunkedList): unknown[] | ChunkedList {
  const items = Array.isArray(list) ? list : list.items();
  return items.length > SHORT ? new ChunkedList(items) : [...items];
}

function setItem(list: unknown[] | ChunkedList, at: number, item: unknown): void {
  if (Array.isArray(list)) list[at] = item;
  else list.set(at, item);
}

function childOf(at: unknown, token: string): unknown {
  if (isList(at)) return at.at(index(token, at.length));
  if (!isRecord(at)) throw new DoesNotApply(`nothing lies below ${JSON.stringify(token)}`);
  return member(at, token);
}

/** A position in a list of `length`: those from the end count from -1. */
function index(token: string, length: number): number {
  const found = listIndex(token, length);
  if (found === undefined) throw new DoesNotApply(`${JSON.stringify(token)} is no index of a list of ${length}`);
  return found;
}

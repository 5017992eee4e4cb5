import { isDeepStrictEqual } from "node:util";
import { sameJson } from "@slipway/base";
import type { JsonPatchOperation } from "./client.ts";
import type { Context } from "./controller.ts";
import type { KubeObject, Resource } from "./object.ts";
import { refOf } from "./object.ts";

/** An object with a status subresource. */
export interface Reported extends KubeObject {
  status?: object;
}

type StatusOf<T extends Reported> = NonNullable<T["status"]>;

/** Fields of a status; one that is `undefined` is removed. */
export type StatusFields<T extends Reported> = {
  readonly [Field in keyof StatusOf<T>]?: StatusOf<T>[Field] | undefined;
};

/**
 * The status of one object during one reconcile. What is noted goes out with the next write, so what belongs to one step is one request.
 * Every write is guarded by the version that the decision rests on: a decision on an old object ends in a `Conflict` here, before any
 * effect. A write that would change nothing is not sent.
 */
export class StatusRecord<T extends Reported> {
  readonly #context: Pick<Context, "client" | "clean" | "isClean">;
  readonly #resource: Resource<T>;
  readonly #onWritten: ((before: T, after: T) => void) | undefined;
  #stored: T;
  #object: T;

  /** `onWritten` is called after each write that changed something, with the object as it was and as it is. */
  constructor(
    context: Pick<Context, "client" | "clean" | "isClean">,
    resource: Resource<T>,
    object: T,
    onWritten?: (before: T, after: T) => void,
  ) {
    this.#context = context;
    this.#resource = resource;
    this.#onWritten = onWritten;
    this.#stored = object;
    this.#object = object;
  }

  /** The object with everything that was noted, written or not. */
  get object(): T {
    return this.#object;
  }

  /** Takes fields over, to be written with the next `write`. */
  note(fields: StatusFields<T>): void {
    this.#object = { ...this.#object, status: { ...this.#object.status, ...fields } };
  }

  /** Writes what was noted, `fields` included. Resolves with the object as it is then. */
  async write(fields?: StatusFields<T>): Promise<T> {
    if (fields !== undefined) this.note(fields);
    return await this.#send((before, status) =>
      this.#context.client.updateStatus(this.#resource, { ...before, status }),
    );
  }

  /**
   * Writes what was noted as `write` does, but each field by itself: what others write to other fields meanwhile stays, and costs no
   * `Conflict`. In the place of the object's version, `unchanged` guards it: values by their JSON pointers. Where one of them reads
   * differently by now, nothing is written: `Invalid`.
   */
  async writeBeside(unchanged: Readonly<Record<string, unknown>>): Promise<T> {
    return await this.#send((before, status) => {
      const guards = Object.entries({ "/metadata/uid": before.metadata.uid, ...unchanged });
      const tests = guards.map(([path, value]) => ({ op: "test" as const, path, value }));
      const body = [...tests, ...changesOf(before.status as Fields | undefined, status as Fields)];
      return this.#context.client.patch(
        this.#resource,
        refOf(before),
        { type: "json", body },
        { subresource: "status" },
      );
    });
  }

  async #send(request: (before: T, status: object) => Promise<T>): Promise<T> {
    if (this.#object === this.#stored) return this.#object;
    if (this.#isAsStored()) {
      this.#object = this.#stored;
      return this.#stored;
    }
    // As it would be read back: without what is undefined, and without what may not leave.
    const status = this.#context.clean(JSON.parse(JSON.stringify(this.#object.status)) as object);
    const before = this.#stored;
    if (isDeepStrictEqual(status, before.status ?? {})) {
      this.#object = before;
      return before;
    }
    const written = await request(before, status);
    this.#stored = written;
    this.#object = written;
    this.#onWritten?.(before, written);
    return written;
  }

  /** What is decided again and again for an object at rest is most often this: looked at first, as it costs little. */
  #isAsStored(): boolean {
    const { status } = this.#stored;
    return status !== undefined && sameJson(this.#object.status, status) && this.#context.isClean?.(status) === true;
  }

  /**
   * Reads the object anew. What was noted stays where nobody wrote meanwhile, and is dropped otherwise: it was decided on the past.
   * False: this very object is gone.
   */
  async reread(): Promise<boolean> {
    const { uid, resourceVersion } = this.#stored.metadata;
    const latest = await this.#context.client.find(this.#resource, refOf(this.#stored));
    if (latest?.metadata.uid !== uid) return false;
    if (latest.metadata.resourceVersion === resourceVersion) return true;
    this.#stored = latest;
    this.#object = latest;
    return true;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** What turns one status into the other, field by field. */
function changesOf(before: Fields | undefined, after: Fields): JsonPatchOperation[] {
  if (before === undefined) return [{ op: "add", path: "/status", value: after }];
  const names = Object.keys({ ...before, ...after });
  return names.flatMap((name): JsonPatchOperation[] => {
    const path = `/status/${name}`;
    if (!(name in after)) return [{ op: "remove", path }];
    return isDeepStrictEqual(before[name], after[name]) ? [] : [{ op: "add", path, value: after[name] }];
  });
}

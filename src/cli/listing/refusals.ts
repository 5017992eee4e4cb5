import { type Fault, isFault } from "@slipway/base";
import type { Client, Resource } from "@slipway/kube";
import { type Selected, selectionOf } from "./selected.ts";

/** Why kinds can't be read: each is a problem of its own, not of the others, unless none of them knows the field that is selected by. */
export class Refusals {
  readonly problems: string[] = [];
  #unknownField: Fault | undefined;
  #answered = 0;

  /** Reads one kind. Without a value and not refused: it is not served. Rejects otherwise. */
  async ask<T>({ fieldSelector }: Selected, read: () => Promise<T>): Promise<{ value?: T; isRefused: boolean }> {
    try {
      const value = await read();
      this.#answered++;
      return { value, isRefused: false };
    } catch (error) {
      if (isFault(error, "NotFound")) return { isRefused: false };
      const isField = fieldSelector !== undefined && isFault(error, "BadRequest");
      if (!isField && !isFault(error, "Forbidden")) throw error;
      this.problems.push(error.advice);
      if (isField) this.#unknownField = error;
      return { isRefused: true };
    }
  }

  /** Throws the API's refusal of the field selector where no kind takes it. */
  check(): void {
    if (this.#unknownField !== undefined && this.#answered === 0) throw this.#unknownField;
  }
}

/** No object has this name: lists of it cost nothing, and are refused as others are. */
const NOBODY = "metadata.name=-";

/** Of the resources those that may be listed like this: a watch would try the others again without end. Rejects as `Refusals` says. */
export async function readable<T extends Resource>(
  client: Client,
  resources: readonly T[],
  selected: Selected,
): Promise<{ resources: T[]; problems: string[] }> {
  const refusals = new Refusals();
  const asked = await Promise.all(
    resources.map(async (resource) => {
      const selection = selectionOf(resource, selected);
      const fieldSelector = [selection.fieldSelector, NOBODY].filter((one) => one !== undefined).join(",");
      const list = () => client.list(resource, { ...selection, fieldSelector, resourceVersion: "0" });
      const { isRefused } = await refusals.ask(selected, list);
      return isRefused ? [] : [resource];
    }),
  );
  refusals.check();
  return { resources: asked.flat(), problems: refusals.problems };
}

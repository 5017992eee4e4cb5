import { goTypeOf, printGo } from "../json/go-print.ts";
import { isRecord } from "../json/value.ts";
import { invalid } from "../model/field-error.ts";
import type { FieldError, ServedResource } from "../model/served.ts";

const MAX_INT32 = 2 ** 31 - 1;

/** What a custom resource's scale paths lead to must be usable as replicas and as a selector. Named by the path itself, with its dot. */
export function scaleErrors(scale: ServedResource["scale"], object: unknown): FieldError[] {
  if (scale === undefined) return [];
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  const errors = [specReplicasPath, statusReplicasPath].flatMap((path) => replicasErrors(object, path));
  if (labelSelectorPath !== undefined) {
    const selector = follow(object, labelSelectorPath);
    if (selector.wrong !== undefined) errors.push(invalid(labelSelectorPath, "", selector.wrong));
    else if (selector.value !== undefined && typeof selector.value !== "string")
      errors.push(invalid(labelSelectorPath, "", accessor(labelSelectorPath, selector.value, "string")));
  }
  return errors;
}

function replicasErrors(object: unknown, path: string): FieldError[] {
  const { value = 0, wrong } = follow(object, path);
  if (wrong !== undefined) return [invalid(path, 0, wrong)];
  if (typeof value !== "number" || !Number.isInteger(value)) return [invalid(path, 0, accessor(path, value, "int64"))];
  if (value < 0) return [invalid(path, value, "should be a non-negative integer")];
  if (value > MAX_INT32) return [invalid(path, value, `should be less than or equal to ${MAX_INT32}`)];
  return [];
}

/** The value at a simple path, or what stands in the way. */
function follow(object: unknown, path: string): { value?: unknown; wrong?: string } {
  let at = object;
  const steps = path.replace(/^\./, "").split(".");
  for (const [i, step] of steps.entries()) {
    if (at === null || at === undefined) return {};
    if (!isRecord(at)) return { wrong: accessor(`.${steps.slice(0, i + 1).join(".")}`, at, "map[string]interface{}") };
    at = at[step];
  }
  return at === null || at === undefined ? {} : { value: at };
}

function accessor(path: string, value: unknown, wanted: string): string {
  return `${path} accessor error: ${printGo(value)} is of the type ${goTypeOf(value)}, expected ${wanted}`;
}

import { type Difference, differences, normaliser } from "./normal.ts";
import { resolve, type Speaker } from "./speaker.ts";
import { type Answer, type Family, get, type Request } from "./step.ts";

/** Where two answers to one request differ. */
export interface Finding extends Difference {
  family: string;
  /** Number of the step in its family, from 1. */
  step: number;
  /** `POST /api/v1/namespaces?dryRun=All`. */
  request: string;
  asked: Request;
}

/** Sends a family's steps to both servers, in order, and reports every difference. Both have a Namespace `diff-<family>` for it. */
export async function compare(family: Family, real: Speaker, ours: Speaker): Promise<Finding[]> {
  const [a, b] = await Promise.all([play(family, real), play(family, ours)]);
  return family.steps.flatMap((step, index) => {
    if (step.unseen) return [];
    const { asked } = a[index]!;
    return differences(a[index]!.answer, b[index]!.answer).map((difference) => ({
      ...difference,
      family: family.name,
      step: index + 1,
      request: title(asked),
      asked,
    }));
  });
}

/** The namespace that a family's requests are about. */
export function namespaceOf(family: Family): string {
  return `diff-${family.name}`;
}

async function play(family: Family, speaker: Speaker): Promise<{ asked: Request; answer: unknown }[]> {
  const normal = normaliser();
  const kept: Record<string, Answer> = {};
  const told: { asked: Request; answer: unknown }[] = [];
  for (const [index, step] of family.steps.entries()) {
    try {
      const asked = resolve(step.ask, kept);
      if (family.awaitsCache && /^(PUT|PATCH|DELETE)$/.test(asked.method)) await awaitCache(speaker, asked);
      const answer = await speaker.take(step, kept);
      if (step.keep !== undefined) kept[step.keep] = answer;
      told.push({ asked, answer: normal(step.only?.(answer) ?? answer) });
    } catch (cause) {
      throw new Error(`family ${family.name}, step ${index + 1}: ${(cause as Error).message}`, { cause });
    }
  }
  return told;
}

/** Reads what a write is about from the store, then from the cache: the server answers that when the cache is as new. */
async function awaitCache(speaker: Speaker, { path }: Request): Promise<void> {
  const object = path.replace(/\/(status|scale)$/, "");
  const { body } = await speaker.take({ ask: get(object) }, {});
  const { resourceVersion } = body.metadata ?? {};
  if (resourceVersion !== undefined) await speaker.take({ ask: get(object, { resourceVersion }) }, {});
}

function title({ method, path, query = {} }: Request): string {
  const search = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => `${name}=${one}`));
  return `${method} ${path}${search.length === 0 ? "" : `?${search.join("&")}`}`;
}

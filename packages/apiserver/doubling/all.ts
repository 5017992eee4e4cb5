import { builtInObjects } from "./built-in-objects.ts";
import { customObjects } from "./custom-objects.ts";
import { definitionBodies } from "./definitions.ts";
import type { Doubling } from "./doubling.ts";
import { jsonBodies } from "./json-bodies.ts";
import { patches } from "./patches.ts";
import { protobufBodies } from "./protobuf-bodies.ts";
import { queries } from "./queries.ts";
import { webhookAnswers } from "./webhooks.ts";
import { yamlBodies } from "./yaml-bodies.ts";

export type { Doubling } from "./doubling.ts";

/** Every kind of input there is. */
export const ALL_DOUBLINGS: readonly Doubling[] = [
  ...jsonBodies,
  ...yamlBodies,
  ...builtInObjects,
  ...customObjects,
  ...definitionBodies,
  ...patches,
  ...protobufBodies,
  ...queries,
  ...webhookAnswers,
];

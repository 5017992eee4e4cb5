import { systemClock as clock, deadline } from "@slipway/base";
import type { Client, Transport } from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import { Argument } from "commander";
import { SYSTEMS } from "../operator/systems.ts";
import type { Asked } from "./completion-places.ts";
import { namesOfKind, servedKinds } from "./listing/kinds.ts";
import { onCluster } from "./on-cluster.ts";
import { say } from "./outgoing.ts";
import type { Verb } from "./verb.ts";

/** Nobody waits for longer after the tab key. */
const PATIENCE_MS = 3_000;

/** `slipway complete`: what completion scripts ask of the cluster of $KUBECONFIG. Prints nothing where it does not answer. */
export const verb: Verb = (program) => {
  program
    .command("complete", { hidden: true })
    .description("Print what completion scripts offer of a cluster: names of namespaces, or of kinds and objects.")
    .addArgument(new Argument("<what>").choices(["namespaces", "objects"]))
    .argument("[typed]", "the word so far", "")
    .addHelpText("after", "\nExamples:\n  slipway complete namespaces\n  slipway complete objects bmh/")
    .action(async (what: Asked, typed: string) => {
      for (const word of await offered(what, typed)) say(word);
    });
};

/** What the cluster of $KUBECONFIG has. Nothing where it does not answer: a prompt is no place for errors, the command itself says what is wrong. */
export async function offered(what: Asked, typed: string): Promise<string[]> {
  const time = deadline(clock, PATIENCE_MS);
  let words: string[] = [];
  try {
    await onCluster({}, async ({ client, transport }) => {
      words = await offers[what]({ client, transport, signal: time.signal }, typed);
    });
  } catch {
    return [];
  } finally {
    time.done();
  }
  return words;
}

interface Question {
  client: Client;
  transport: Transport;
  signal: AbortSignal;
}

const offers = {
  async namespaces({ client, signal }: Question): Promise<string[]> {
    return (await client.list(Namespace, { signal })).items.map(({ metadata }) => metadata.name);
  },

  /** Kinds, each with its slash; behind one, its objects. */
  async objects({ client, transport, signal }: Question, typed: string): Promise<string[]> {
    const served = await servedKinds(transport, SYSTEMS);
    const [word = ""] = typed.split("/");
    if (!typed.includes("/"))
      return [...new Set(served.flatMap(({ kind }) => namesOfKind(kind).map((name) => `${name}/`)))].sort();
    const found = served.find(({ kind }) => namesOfKind(kind).includes(word.toLowerCase()));
    if (found === undefined) return [];
    const { items } = await client.list(found.kind, { signal });
    return items.map(
      ({ metadata: { namespace, name } }) => `${word}/${namespace === undefined ? "" : `${namespace}/`}${name}`,
    );
  },
};

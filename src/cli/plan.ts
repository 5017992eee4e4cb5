import { Fault, isFault } from "@slipway/base";
import type { Client, Transport } from "@slipway/kube";
import { Option } from "commander";
import { BareMetalHost } from "../kinds/metal3/bare-metal-host.ts";
import { HttpClients } from "../machines/http-clients.ts";
import { DEFAULT_NAMESPACE } from "../operator/defaults.ts";
import { manifestTexts } from "./manifest-files.ts";
import { onCluster } from "./on-cluster.ts";
import { operatorPorts } from "./operator-ports.ts";
import { say, secrets } from "./outgoing.ts";
import { fatalConcerns, planDocument, planLines, problemLine } from "./plan/lines.ts";
import { ClusterAsPlanned } from "./plan/planned-cluster.ts";
import { outcomeOf } from "./plan/planned-machines.ts";
import { type Manifest, manifestsOf, type PlannedObject, plannedObjects } from "./plan/planned-objects.ts";
import type { Verb } from "./verb.ts";

interface PlanOptions {
  filename: string[];
  namespace?: string;
  operatorNamespace: string;
  output?: "json";
  kubeconfig?: string;
  context?: string;
}

/** `slipway plan`: changes nothing. Ends with 1 where something of it would be refused. */
export const verb: Verb = (program) => {
  program
    .command("plan")
    .description("Show what applying manifests would create, on which machines and at what price. Changes nothing.")
    .requiredOption("-f, --filename <file...>", "files or folders with manifests; - is standard input")
    .option("-n, --namespace <namespace>", "of objects that name none; unset: the kubeconfig's, else default")
    .option("--operator-namespace <namespace>", "where the operator's own Secret is", DEFAULT_NAMESPACE)
    .addOption(new Option("-o, --output <format>", "unset: tables").choices(["json"]))
    .option("--kubeconfig <file>", "cluster to plan for; unset: $KUBECONFIG, else the cluster it runs in")
    .option("--context <name>", "context of the kubeconfig")
    .addHelpText(
      "after",
      `
Each object is tried by a dry run, so what the API would refuse is shown with its file and line. Prices are asked of the provider with the account
that the operator would use; EQUINIX_ENDPOINT and LATITUDE_ENDPOINT name compatible APIs, as for the operator.

Examples:
  slipway plan -f examples/packet-kamaji
  slipway plan -f pool.yaml -o json
  EQUINIX_ENDPOINT=http://127.0.0.1:8082/metal/v1 slipway plan -f cluster.yaml`,
    )
    .action(async (options: PlanOptions) => {
      const manifests = await manifestsIn(options.filename);
      await onCluster(options, async ({ client, transport, namespace: ofCluster }) => {
        const namespace = options.namespace ?? ofCluster;
        const { planned, problems } = await plannedObjects({ client, transport }, manifests, namespace);
        const outcomes = await outcomesOf({ client, transport }, planned, options.operatorNamespace);
        const refused = [...problems, ...fatalConcerns(outcomes)];
        if (options.output === "json")
          console.log(JSON.stringify(secrets.clean(planDocument(outcomes, refused)), undefined, 2));
        else for (const line of planLines(outcomes)) say(line);
        for (const problem of refused) console.error(secrets.text(problemLine(problem)));
        if (refused.length > 0) process.exitCode = 1;
      });
    });
};

/** The manifests of files and folders, in their order. */
async function manifestsIn(names: readonly string[]): Promise<Manifest[]> {
  const texts = await manifestTexts(names);
  const manifests = texts.flatMap(({ path, content }) => manifestsOf(content, path));
  if (manifests.length > 0) return manifests;
  throw new Fault("MissingInput", names.join(", "), "there are no objects in it", {
    remedy: "name a file with manifests",
  });
}

/** Follows each object to its machines, with the accounts that the operator would use. */
async function outcomesOf(
  { client, transport }: { client: Client; transport: Transport },
  planned: readonly PlannedObject[],
  namespace: string,
) {
  const cluster = new ClusterAsPlanned(client);
  for (const { object } of planned) cluster.add(object);
  const clients = new HttpClients();
  const hosts = {
    client,
    list: async () =>
      (
        await client.list(BareMetalHost).catch((error: unknown) => {
          if (isFault(error, "NotFound")) return { items: [] };
          throw error;
        })
      ).items,
  };
  const { accounts, account: own } = operatorPorts({ client, transport, namespace, clients, hosts });
  try {
    return await Promise.all(planned.map((object) => outcomeOf(object, { cluster, accounts, own, planned })));
  } finally {
    await clients.close();
  }
}

import type { Client } from "@slipway/kube";
import { CustomResourceDefinition, Node } from "@slipway/kube/core";
import { isStandIn, MACHINES } from "./capi-machine.ts";
import { SIMULATED_KERNEL } from "./node-object.ts";
import { seededObjects } from "./seed.ts";

/** The commands that remove what a simulated site has left in a cluster; none where there is nothing. What others own is never among it. */
export async function leftOvers(client: Client): Promise<string[]> {
  const commands: string[] = [];
  const nodes = (await client.list(Node)).items.filter(
    (node) => node.status?.nodeInfo?.kernelVersion === SIMULATED_KERNEL,
  );
  if (nodes.length > 0) commands.push(`kubectl delete node ${nodes.map(({ metadata }) => metadata.name).join(" ")}`);
  const definition = await client.find(CustomResourceDefinition, { name: MACHINES });
  if (definition !== undefined && isStandIn(definition))
    commands.push(`kubectl delete customresourcedefinition ${MACHINES}`);
  if (commands.length === 0) return [];
  for (const { resource, name, namespace } of seededObjects)
    if ((await client.find(resource, { name, namespace })) !== undefined)
      commands.push(`kubectl delete ${resource.kind.toLowerCase()} ${name} -n ${namespace}`);
  return commands;
}

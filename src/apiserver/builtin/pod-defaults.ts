import { at, membersAt, objectsAt, textAt } from "./read.ts";

/**
 * Fills in what of a PodSpec depends on its other fields. Safe to repeat; works in place.
 * `spec` is a PodSpec with the schema's defaults applied or about to be.
 */
export function defaultPodSpec(spec: Record<string, unknown>): void {
  for (const list of ["initContainers", "containers", "ephemeralContainers"]) {
    for (const container of objectsAt(spec, list)) defaultContainer(container, spec.hostNetwork === true);
  }
  const account = textAt(spec, "serviceAccountName") || textAt(spec, "serviceAccount");
  if (account !== "") Object.assign(spec, { serviceAccountName: account, serviceAccount: account });
  for (const volume of objectsAt(spec, "volumes")) {
    // A volume without any source is an empty directory.
    if (Object.keys(volume).length === 1) volume.emptyDir = {};
  }
}

function defaultContainer(container: Record<string, unknown>, hostNetwork: boolean): void {
  if (container.imagePullPolicy === undefined || container.imagePullPolicy === "") {
    container.imagePullPolicy = isLatest(textAt(container, "image")) ? "Always" : "IfNotPresent";
  }
  for (const port of objectsAt(container, "ports")) {
    if (hostNetwork) port.hostPort ??= port.containerPort;
  }
  const resources = at(container, "resources");
  if (typeof resources !== "object" || resources === null) return;
  const limits = membersAt(resources, "limits");
  if (Object.keys(limits).length === 0) return;
  // What has a limit and no request asks for its limit.
  (resources as Record<string, unknown>).requests = { ...limits, ...membersAt(resources, "requests") };
}

/** Whether an image's reference names the tag `latest`, in words or by saying nothing. */
function isLatest(image: string): boolean {
  if (image.includes("@")) return false;
  const name = image.slice(image.lastIndexOf("/") + 1);
  return !name.includes(":") || name.endsWith(":latest");
}

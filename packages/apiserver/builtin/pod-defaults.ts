import { setMember, shallowCopy } from "../json/members.ts";
import { membersAt, objectsAt, textAt } from "../model/read.ts";

/** Fills in what of a PodSpec, of a Pod or in a template, depends on its other fields. Safe to repeat; works in place. */
export function defaultPodSpec(spec: Record<string, unknown>): void {
  for (const list of ["initContainers", "containers", "ephemeralContainers"]) {
    for (const container of objectsAt(spec, list)) {
      const byTag = isLatest(textAt(container, "image")) ? "Always" : "IfNotPresent";
      container.imagePullPolicy ||= byTag;
    }
  }
  const account = textAt(spec, "serviceAccountName") || textAt(spec, "serviceAccount");
  if (account !== "") Object.assign(spec, { serviceAccountName: account, serviceAccount: account });
  for (const volume of objectsAt(spec, "volumes")) {
    // A volume without any source is an empty directory.
    if (Object.keys(volume).length === 1) volume.emptyDir = {};
  }
}

/** What Pods get that templates don't. Safe to repeat; works in place. */
export function defaultRunningSpec(spec: Record<string, unknown>): void {
  spec.enableServiceLinks ??= true;
  for (const container of [...objectsAt(spec, "initContainers"), ...objectsAt(spec, "containers")]) {
    for (const port of objectsAt(container, "ports"))
      if (spec.hostNetwork === true) port.hostPort ||= port.containerPort;
    const resources = membersAt(container, "resources");
    const limits = membersAt(resources, "limits");
    if (Object.keys(limits).length > 0) resources.requests = withLimits(membersAt(resources, "requests"), limits);
  }
}

/** What has a limit and no request asks for its limit. Names that have a limit come first. */
function withLimits(requests: Record<string, unknown>, limits: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(requests);
  if (Object.keys(limits).every((name, i) => name === names[i])) return requests;
  const both = shallowCopy(limits);
  for (const name of names) setMember(both, name, requests[name]);
  return both;
}

/** Whether an image's reference names the tag `latest`, in words or by saying nothing. */
function isLatest(image: string): boolean {
  if (image.includes("@")) return false;
  const name = image.slice(image.lastIndexOf("/") + 1);
  return !name.includes(":") || name.endsWith(":latest");
}

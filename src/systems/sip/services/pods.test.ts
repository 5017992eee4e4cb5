/** The Pods and Services of each service, as a whole. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { authService } from "./auth/auth.ts";
import { jumpHost } from "./jump/jump-host.ts";
import type { Rendered } from "./rendered.ts";
import { apiBalancer, common, entry, hosts, jump, pod, provider } from "./testing.ts";

const BALANCER_POD = `automountServiceAccountToken: false
terminationGracePeriodSeconds: 610
containers:
  - name: loadbalancer
    image: i
    imagePullPolicy: IfNotPresent
    ports:
      - name: http
        containerPort: 6443
        protocol: TCP
    readinessProbe:
      httpGet:
        path: /healthz
        port: 8404
      periodSeconds: 5
      initialDelaySeconds: 2
    livenessProbe:
      httpGet:
        path: /healthz
        port: 8404
      periodSeconds: 10
      initialDelaySeconds: 10
    resources:
      requests:
        cpu: 10m
        memory: 32Mi
    securityContext:
      allowPrivilegeEscalation: false
      runAsNonRoot: true
      runAsUser: 65534
      readOnlyRootFilesystem: true
      capabilities:
        drop:
          - ALL
    volumeMounts:
      - name: config
        mountPath: /usr/local/etc/haproxy
        readOnly: true
    lifecycle:
      preStop:
        sleep:
          seconds: 5
volumes:
  - name: config
    secret:
      secretName: loadbalancer-controlplane-c
`;

const JUMP_POD = `automountServiceAccountToken: false
terminationGracePeriodSeconds: 30
containers:
  - name: jumphost
    image: i
    imagePullPolicy: IfNotPresent
    command:
      - /bin/sh
      - -c
      - |-
        set -e
        mkdir -p /run/sshd /run/sip /tmp
        chmod 0755 /run/sshd /run/sip
        chmod 1777 /tmp
        install -m 0600 /etc/opt/sip/host-keys/ssh_host_ed25519_key /run/sip/ssh_host_ed25519_key
        install -m 0644 /etc/opt/sip/sshd/authorized_keys /run/sip/authorized_keys
        exec /usr/sbin/sshd -D -e -f /etc/opt/sip/sshd/sshd_config
    ports:
      - name: ssh
        containerPort: 22
        protocol: TCP
    env:
      - name: NO_PROXY
        value: '*'
      - name: no_proxy
        value: '*'
    livenessProbe:
      tcpSocket:
        port: 22
      initialDelaySeconds: 15
      periodSeconds: 10
    readinessProbe:
      tcpSocket:
        port: 22
      initialDelaySeconds: 5
      periodSeconds: 20
    resources:
      requests:
        cpu: 10m
        memory: 32Mi
    volumeMounts:
      - name: hosts
        mountPath: /etc/opt/sip/hosts
        subPath: hosts
        readOnly: true
      - name: hosts
        mountPath: /home/ubuntu/.ssh/config
        subPath: ssh_config
        readOnly: true
      - name: bmc
        mountPath: /etc/opt/sip/bmc
        readOnly: true
      - name: scripts
        mountPath: /opt/sip/bin
        readOnly: true
      - name: sshd
        mountPath: /etc/opt/sip/sshd
        readOnly: true
      - name: private-keys
        mountPath: /etc/opt/sip/ssh-private-keys
        readOnly: true
      - name: host-keys
        mountPath: /etc/opt/sip/host-keys
        readOnly: true
      - name: kubeconfig
        mountPath: /etc/opt/sip/kube
        readOnly: true
    lifecycle:
      preStop:
        sleep:
          seconds: 5
volumes:
  - name: hosts
    secret:
      secretName: jumphost-c
      defaultMode: 288
  - name: bmc
    secret:
      secretName: jumphostbmc-c
      defaultMode: 288
  - name: scripts
    configMap:
      name: jumphost-c
      items:
        - key: host
          path: host
      defaultMode: 365
  - name: sshd
    configMap:
      name: jumphost-c
      items:
        - key: sshd_config
          path: sshd_config
        - key: authorized-keys
          path: authorized_keys
  - name: private-keys
    secret:
      secretName: keys
      defaultMode: 288
  - name: host-keys
    secret:
      secretName: jumphostkey-c
      defaultMode: 256
  - name: kubeconfig
    secret:
      secretName: c-kubeconfig
      optional: true
      defaultMode: 288
      items:
        - key: value
          path: config
securityContext:
  fsGroup: 1000
hostAliases:
  - ip: 10.0.0.1
    hostnames:
      - a
  - ip: 10.0.0.2
    hostnames:
      - b
      - d
  - ip: 10.0.0.3
    hostnames:
      - e
  - ip: 10.0.0.4
    hostnames:
      - f
`;

const AUTH_POD = `automountServiceAccountToken: false
terminationGracePeriodSeconds: 30
containers:
  - name: dex
    image: i
    imagePullPolicy: IfNotPresent
    command:
      - dex
      - serve
      - /etc/dex/config/config.yaml
    ports:
      - name: https
        containerPort: 5556
        protocol: TCP
    readinessProbe:
      httpGet:
        path: /dex/healthz
        port: 5556
        scheme: HTTPS
      periodSeconds: 5
    livenessProbe:
      httpGet:
        path: /dex/healthz
        port: 5556
        scheme: HTTPS
      initialDelaySeconds: 10
      periodSeconds: 10
    resources:
      requests:
        cpu: 10m
        memory: 64Mi
    securityContext:
      allowPrivilegeEscalation: false
      runAsNonRoot: true
      runAsUser: 65534
      readOnlyRootFilesystem: true
      capabilities:
        drop:
          - ALL
    volumeMounts:
      - name: config
        mountPath: /etc/dex/config
        readOnly: true
      - name: tls
        mountPath: /etc/dex/tls
        readOnly: true
    lifecycle:
      preStop:
        sleep:
          seconds: 5
volumes:
  - name: config
    secret:
      secretName: dex-c
  - name: tls
    secret:
      secretName: dexkeys-c
      items:
        - key: tls.crt
          path: tls.crt
        - key: tls.key
          path: tls.key
`;

test("a load balancer's Pod", () => {
  assert.equal(pod(apiBalancer()), BALANCER_POD);
});

test("a jump host's Pod", () => {
  assert.equal(pod(jump()), JUMP_POD);
  const { containers } = jump({ bmc: { proxy: true } }).deployment.spec!.template!.spec as {
    containers: { env?: object }[];
  };
  assert.equal(containers[0]!.env, undefined);
});

test("a provider's Pod", () => {
  assert.equal(pod(provider()), AUTH_POD);
});

test("Pods are on control plane nodes where there are some, or where the user says; several are apart", () => {
  const placed = (fields: object) => {
    const { deployment } = apiBalancer(fields);
    const { affinity, tolerations, nodeSelector } = deployment.spec!.template!.spec as Record<string, unknown>;
    return { replicas: deployment.spec!.replicas, affinity, tolerations, nodeSelector };
  };
  const prefers = (key: string) => ({ weight: 100, preference: { matchExpressions: [{ key, operator: "Exists" }] } });
  const keys = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];
  const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: keys.map(prefers) };
  const tolerations = keys.map((key) => ({ key, operator: "Exists", effect: "NoSchedule" }));
  const alone = { replicas: 1, affinity: { nodeAffinity }, tolerations, nodeSelector: undefined };
  assert.deepEqual(placed({}), alone);
  assert.deepEqual(placed({ nodeLabels: {} }), alone);
  const labels = apiBalancer().deployment.metadata.labels;
  const term = { labelSelector: { matchLabels: labels }, topologyKey: "kubernetes.io/hostname" };
  const podAntiAffinity = {
    preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term }],
  };
  assert.deepEqual(placed({ replicas: 2 }), { ...alone, replicas: 2, affinity: { nodeAffinity, podAntiAffinity } });
  const nodeLabels = { edge: "yes" };
  assert.deepEqual(placed({ replicas: 2, nodeLabels }), {
    ...alone,
    replicas: 2,
    nodeSelector: nodeLabels,
    affinity: { podAntiAffinity },
  });
});

test("new Pods are ready before old ones go, and have a checksum of their configuration", () => {
  const { deployment } = apiBalancer();
  const { strategy, selector, template } = deployment.spec!;
  assert.deepEqual(strategy, { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } });
  assert.deepEqual(selector, { matchLabels: deployment.metadata.labels });
  const checksum = (of: Rendered) => of.deployment.spec!.template!.metadata!.annotations!["slipway.dev/configuration"]!;
  assert.match(checksum(apiBalancer()), /^[0-9a-f]{64}$/);
  assert.deepEqual(template!.metadata!.labels, deployment.metadata.labels);
  assert.notEqual(checksum(apiBalancer()), checksum(apiBalancer({}, undefined, [])));
  const keysOf = (keysVersion: string) =>
    checksum(
      jumpHost(entry("jumpHost"), { ...common, nodePort: 0, nodeSSHPrivateKeys: "keys" } as never, {
        hosts,
        keyNames: [],
        keysVersion,
      }),
    );
  assert.notEqual(keysOf("1"), keysOf("2"));
  assert.notEqual(checksum(provider()), checksum(provider({}, { staticPasswords: "[1]" })));
});

test("Services: their ports, one that Kubernetes chooses left open", () => {
  const ports = ({ service }: Rendered) => service.spec!.ports;
  const tcp = { protocol: "TCP" };
  assert.deepEqual(apiBalancer().service.spec!.type, "NodePort");
  assert.deepEqual(ports(apiBalancer()), [{ name: "http", ...tcp, port: 6443, targetPort: 6443, nodePort: 30_000 }]);
  assert.deepEqual(ports(apiBalancer({ nodePort: 0 })), [{ name: "http", ...tcp, port: 6443, targetPort: 6443 }]);
  assert.deepEqual(ports(jump()), [{ name: "ssh", ...tcp, port: 22, targetPort: 22, nodePort: 30_010 }]);
  assert.deepEqual(ports(provider()), [{ name: "https", ...tcp, port: 5556, targetPort: 5556, nodePort: 30_020 }]);
  for (const nodePort of [-1, 65_536]) {
    assert.throws(() => apiBalancer({ nodePort }), { on: "spec.services.loadBalancerControlPlane[0].nodePort" });
    assert.throws(() => jump({ nodePort }), { on: "spec.services.jumpHost[0].nodePort" });
    assert.throws(() => authService(entry("auth"), { nodePort } as never), { on: "spec.services.auth[0].nodePort" });
  }
});

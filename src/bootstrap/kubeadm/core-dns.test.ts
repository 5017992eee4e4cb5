/** What is written here is what kubeadm of 1.36 installs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { coreDnsObjects } from "./core-dns.ts";
import { yamlDocument } from "./document.ts";
import { FACTS, objectIn, textIn } from "./testing.ts";

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  labels:
    k8s-app: kube-dns
  name: coredns
  namespace: kube-system
spec:
  replicas: 2
  selector:
    matchLabels:
      k8s-app: kube-dns
  strategy:
    rollingUpdate:
      maxUnavailable: 1
    type: RollingUpdate
  template:
    metadata:
      labels:
        k8s-app: kube-dns
    spec:
      affinity:
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
            - podAffinityTerm:
                labelSelector:
                  matchExpressions:
                    - key: k8s-app
                      operator: In
                      values:
                        - kube-dns
                topologyKey: kubernetes.io/hostname
              weight: 100
      containers:
        - args:
            - -conf
            - /etc/coredns/Corefile
          image: registry.k8s.io/coredns/coredns:v1.14.2
          imagePullPolicy: IfNotPresent
          livenessProbe:
            failureThreshold: 5
            httpGet:
              path: /health
              port: liveness-probe
              scheme: HTTP
            initialDelaySeconds: 60
            successThreshold: 1
            timeoutSeconds: 5
          name: coredns
          ports:
            - containerPort: 53
              name: dns
              protocol: UDP
            - containerPort: 53
              name: dns-tcp
              protocol: TCP
            - containerPort: 9153
              name: metrics
              protocol: TCP
            - containerPort: 8080
              name: liveness-probe
              protocol: TCP
            - containerPort: 8181
              name: readiness-probe
              protocol: TCP
          readinessProbe:
            httpGet:
              path: /ready
              port: readiness-probe
              scheme: HTTP
          resources:
            limits:
              memory: 170Mi
            requests:
              cpu: 100m
              memory: 70Mi
          securityContext:
            allowPrivilegeEscalation: false
            capabilities:
              add:
                - NET_BIND_SERVICE
              drop:
                - ALL
            readOnlyRootFilesystem: true
          volumeMounts:
            - mountPath: /etc/coredns
              name: config-volume
              readOnly: true
      dnsPolicy: Default
      nodeSelector:
        kubernetes.io/os: linux
      priorityClassName: system-cluster-critical
      serviceAccountName: coredns
      tolerations:
        - key: CriticalAddonsOnly
          operator: Exists
        - effect: NoSchedule
          key: node-role.kubernetes.io/control-plane
      volumes:
        - configMap:
            items:
              - key: Corefile
                path: Corefile
            name: coredns
          name: config-volume
`;
const SERVICE = `apiVersion: v1
kind: Service
metadata:
  annotations:
    prometheus.io/port: '9153'
    prometheus.io/scrape: 'true'
  labels:
    k8s-app: kube-dns
    kubernetes.io/cluster-service: 'true'
    kubernetes.io/name: CoreDNS
  name: kube-dns
  namespace: kube-system
spec:
  clusterIP: 10.96.0.10
  ports:
    - name: dns
      port: 53
      protocol: UDP
      targetPort: 53
    - name: dns-tcp
      port: 53
      protocol: TCP
      targetPort: 53
    - name: metrics
      port: 9153
      protocol: TCP
      targetPort: 9153
  selector:
    k8s-app: kube-dns
`;
const COREFILE = `.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30 {
       disable success cluster.local
       disable denial cluster.local
    }
    loop
    reload
    loadbalance
}
`;

const of = (version: string) => coreDnsObjects({ ...FACTS, version }, {});

test("CoreDNS of 1.36, field by field", () => {
  const objects = of("v1.36.3");
  assert.equal(yamlDocument(objectIn(objects, "Deployment", "coredns")), DEPLOYMENT);
  assert.equal(yamlDocument(objectIn(objects, "Service", "kube-dns")), SERVICE);
  assert.equal(textIn(objects, "coredns", "Corefile"), COREFILE);
  const pods = {
    apiGroups: [""],
    resources: ["endpoints", "services", "pods", "namespaces"],
    verbs: ["list", "watch"],
  };
  const slices = { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] };
  assert.deepEqual(objectIn(objects, "ClusterRole", "system:coredns").rules, [pods, slices]);
  const account = objectIn(objects, "ServiceAccount", "coredns").metadata;
  assert.deepEqual(objectIn(objects, "ClusterRoleBinding", "system:coredns").subjects, [
    { kind: "ServiceAccount", ...account },
  ]);
});

test("below 1.34 the probes name ports by number; at 1.27 CoreDNS reads Nodes, too", () => {
  const { spec } = objectIn(of("v1.33.1"), "Deployment", "coredns") as unknown as {
    spec: { template: { spec: { containers: Record<string, { httpGet: object }>[] } } };
  };
  const [container] = spec.template.spec.containers;
  assert.deepEqual(
    [container!.livenessProbe!.httpGet, container!.readinessProbe!.httpGet],
    [
      { path: "/health", port: 8080, scheme: "HTTP" },
      { path: "/ready", port: 8181, scheme: "HTTP" },
    ],
  );
  const { rules } = objectIn(of("v1.27.3"), "ClusterRole", "system:coredns");
  assert.deepEqual((rules as object[])[1], { apiGroups: [""], resources: ["nodes"], verbs: ["get"] });
  assert.match(textIn(of("v1.31.9"), "coredns", "Corefile"), /^ {4}cache 30$/m);
});

test("the Service has the first address, and a second where that is of the other family", () => {
  const addresses = (...dnsServiceIPs: string[]) => {
    const service = objectIn(coreDnsObjects({ ...FACTS, dnsServiceIPs }, {}), "Service", "kube-dns");
    const { ports: _, selector: __, ...rest } = service.spec as Record<string, unknown>;
    return rest;
  };
  assert.deepEqual(addresses("10.96.0.10", "10.96.0.11"), { clusterIP: "10.96.0.10" });
  assert.deepEqual(addresses("10.96.0.10", "10.96.0.11", "fd00::a"), {
    clusterIP: "10.96.0.10",
    clusterIPs: ["10.96.0.10", "fd00::a"],
    ipFamilyPolicy: "PreferDualStack",
  });
  const none = objectIn(coreDnsObjects({ ...FACTS, serviceCidrs: [] }, {}), "Service", "kube-dns");
  assert.deepEqual(Object.keys(none.spec as object), ["ports", "selector"]);
});

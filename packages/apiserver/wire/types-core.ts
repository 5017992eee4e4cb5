/**
 * How the fields of the core group's types are written in JSON, one type a line in the notation that `wire-types.ts` reads. Facts of
 * Kubernetes 1.36, printed from its Go types.
 */
export const CORE_TYPES = `
# core
AWSElasticBlockStoreVolumeSource volumeID:string fsType?:string partition?:int32 readOnly?:bool
Affinity nodeAffinity?:*NodeAffinity podAffinity?:*PodAffinity podAntiAffinity?:*PodAntiAffinity
AppArmorProfile type:$AppArmorProfileType localhostProfile?:*string
AttachedVolume name:$UniqueVolumeName devicePath:string
AzureDiskVolumeSource diskName:string diskURI:string cachingMode?:*$AzureDataDiskCachingMode fsType?:*string readOnly?:*bool kind?:*$AzureDataDiskKind
AzureFilePersistentVolumeSource secretName:string shareName:string readOnly?:bool secretNamespace:*string
AzureFileVolumeSource secretName:string shareName:string readOnly?:bool
Binding metadata?:meta.ObjectMeta target:ObjectReference
CSIPersistentVolumeSource driver:string volumeHandle:string readOnly?:bool fsType?:string volumeAttributes?:{}string controllerPublishSecretRef?:*SecretReference nodeStageSecretRef?:*SecretReference nodePublishSecretRef?:*SecretReference controllerExpandSecretRef?:*SecretReference nodeExpandSecretRef?:*SecretReference
CSIVolumeSource driver:string readOnly?:*bool fsType?:*string volumeAttributes?:{}string nodePublishSecretRef?:*LocalObjectReference
Capabilities add?:[]$Capability drop?:[]$Capability
CephFSPersistentVolumeSource monitors:[]string path?:string user?:string secretFile?:string secretRef?:*SecretReference readOnly?:bool
CephFSVolumeSource monitors:[]string path?:string user?:string secretFile?:string secretRef?:*LocalObjectReference readOnly?:bool
CinderPersistentVolumeSource volumeID:string fsType?:string readOnly?:bool secretRef?:*SecretReference
CinderVolumeSource volumeID:string fsType?:string readOnly?:bool secretRef?:*LocalObjectReference
ClientIPConfig timeoutSeconds?:*int32
ClusterTrustBundleProjection name?:*string signerName?:*string labelSelector?:*meta.LabelSelector optional?:*bool path:string
ConfigMap metadata?:meta.ObjectMeta immutable?:*bool data?:{}string binaryData?:{}bytes
ConfigMapEnvSource +LocalObjectReference:LocalObjectReference optional?:*bool
ConfigMapKeySelector +LocalObjectReference:LocalObjectReference key:string optional?:*bool
ConfigMapNodeConfigSource namespace:string name:string uid?:$types.UID resourceVersion?:string kubeletConfigKey:string
ConfigMapProjection +LocalObjectReference:LocalObjectReference items?:[]KeyToPath optional?:*bool
ConfigMapVolumeSource +LocalObjectReference:LocalObjectReference items?:[]KeyToPath defaultMode?:*int32 optional?:*bool
Container name:string image?:string command?:[]string args?:[]string workingDir?:string ports?:[]ContainerPort envFrom?:[]EnvFromSource env?:[]EnvVar resources?:ResourceRequirements resizePolicy?:[]ContainerResizePolicy restartPolicy?:*$ContainerRestartPolicy restartPolicyRules?:[]ContainerRestartRule volumeMounts?:[]VolumeMount volumeDevices?:[]VolumeDevice livenessProbe?:*Probe readinessProbe?:*Probe startupProbe?:*Probe lifecycle?:*Lifecycle terminationMessagePath?:string terminationMessagePolicy?:$TerminationMessagePolicy imagePullPolicy?:$PullPolicy securityContext?:*SecurityContext stdin?:bool stdinOnce?:bool tty?:bool
ContainerExtendedResourceRequest containerName:string resourceName:string requestName:string
ContainerImage names:[]string sizeBytes?:int64
ContainerPort name?:string hostPort?:int32 containerPort:int32 protocol?:$Protocol hostIP?:string
ContainerResizePolicy resourceName:$ResourceName restartPolicy:$ResourceResizeRestartPolicy
ContainerRestartRule action?:$ContainerRestartRuleAction exitCodes?:*ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes operator?:$ContainerRestartRuleOnExitCodesOperator values?:[]int32
ContainerState waiting?:*ContainerStateWaiting running?:*ContainerStateRunning terminated?:*ContainerStateTerminated
ContainerStateRunning startedAt?:Time
ContainerStateTerminated exitCode:int32 signal?:int32 reason?:string message?:string startedAt?:Time finishedAt?:Time containerID?:string
ContainerStateWaiting reason?:string message?:string
ContainerStatus name:string state?:ContainerState lastState?:ContainerState ready:bool restartCount:int32 image:string imageID:string containerID?:string started?:*bool allocatedResources?:<ResourceList>{ResourceName}Quantity resources?:*ResourceRequirements volumeMounts?:[]VolumeMountStatus user?:*ContainerUser allocatedResourcesStatus?:[]ResourceStatus stopSignal?:*$Signal
ContainerUser linux?:*LinuxContainerUser
DaemonEndpoint Port:int32
DownwardAPIProjection items?:[]DownwardAPIVolumeFile
DownwardAPIVolumeFile path:string fieldRef?:*ObjectFieldSelector resourceFieldRef?:*ResourceFieldSelector mode?:*int32
DownwardAPIVolumeSource items?:[]DownwardAPIVolumeFile defaultMode?:*int32
EmptyDirVolumeSource medium?:$StorageMedium sizeLimit?:*Quantity
EndpointAddress ip:string hostname?:string nodeName?:*string targetRef?:*ObjectReference
EndpointPort name?:string port:int32 protocol?:$Protocol appProtocol?:*string
EndpointSubset addresses?:[]EndpointAddress notReadyAddresses?:[]EndpointAddress ports?:[]EndpointPort
Endpoints metadata?:meta.ObjectMeta subsets?:[]EndpointSubset
EnvFromSource prefix?:string configMapRef?:*ConfigMapEnvSource secretRef?:*SecretEnvSource
EnvVar name:string value?:string valueFrom?:*EnvVarSource
EnvVarSource fieldRef?:*ObjectFieldSelector resourceFieldRef?:*ResourceFieldSelector configMapKeyRef?:*ConfigMapKeySelector secretKeyRef?:*SecretKeySelector fileKeyRef?:*FileKeySelector
EphemeralContainer +EphemeralContainerCommon:EphemeralContainerCommon targetContainerName?:string
EphemeralContainerCommon name:string image?:string command?:[]string args?:[]string workingDir?:string ports?:[]ContainerPort envFrom?:[]EnvFromSource env?:[]EnvVar resources?:ResourceRequirements resizePolicy?:[]ContainerResizePolicy restartPolicy?:*$ContainerRestartPolicy restartPolicyRules?:[]ContainerRestartRule volumeMounts?:[]VolumeMount volumeDevices?:[]VolumeDevice livenessProbe?:*Probe readinessProbe?:*Probe startupProbe?:*Probe lifecycle?:*Lifecycle terminationMessagePath?:string terminationMessagePolicy?:$TerminationMessagePolicy imagePullPolicy?:$PullPolicy securityContext?:*SecurityContext stdin?:bool stdinOnce?:bool tty?:bool
EphemeralVolumeSource volumeClaimTemplate?:*PersistentVolumeClaimTemplate
Event metadata:meta.ObjectMeta involvedObject:ObjectReference reason?:string message?:string source?:EventSource firstTimestamp?:Time lastTimestamp?:Time count?:int32 type?:string eventTime?:MicroTime series?:*EventSeries action?:string related?:*ObjectReference reportingComponent:string reportingInstance:string
EventSeries count?:int32 lastObservedTime?:MicroTime
EventSource component?:string host?:string
ExecAction command?:[]string
FCVolumeSource targetWWNs?:[]string lun?:*int32 fsType?:string readOnly?:bool wwids?:[]string
FileKeySelector volumeName:string path:string key:string optional?:*bool
FlexPersistentVolumeSource driver:string fsType?:string secretRef?:*SecretReference readOnly?:bool options?:{}string
FlexVolumeSource driver:string fsType?:string secretRef?:*LocalObjectReference readOnly?:bool options?:{}string
FlockerVolumeSource datasetName?:string datasetUUID?:string
GCEPersistentDiskVolumeSource pdName:string fsType?:string partition?:int32 readOnly?:bool
GRPCAction port:int32 service:*string
GitRepoVolumeSource repository:string revision?:string directory?:string
GlusterfsPersistentVolumeSource endpoints:string path:string readOnly?:bool endpointsNamespace?:*string
GlusterfsVolumeSource endpoints:string path:string readOnly?:bool
HTTPGetAction path?:string port:IntOrString host?:string scheme?:$URIScheme httpHeaders?:[]HTTPHeader
HTTPHeader name:string value:string
HostAlias ip:string hostnames?:[]string
HostIP ip:string
HostPathVolumeSource path:string type?:*$HostPathType
ISCSIPersistentVolumeSource targetPortal:string iqn:string lun:int32 iscsiInterface?:string fsType?:string readOnly?:bool portals?:[]string chapAuthDiscovery?:bool chapAuthSession?:bool secretRef?:*SecretReference initiatorName?:*string
ISCSIVolumeSource targetPortal:string iqn:string lun:int32 iscsiInterface?:string fsType?:string readOnly?:bool portals?:[]string chapAuthDiscovery?:bool chapAuthSession?:bool secretRef?:*LocalObjectReference initiatorName?:*string
ImageVolumeSource reference?:string pullPolicy?:$PullPolicy
ImageVolumeStatus imageRef?:string
KeyToPath key:string path:string mode?:*int32
Lifecycle postStart?:*LifecycleHandler preStop?:*LifecycleHandler stopSignal?:*$Signal
LifecycleHandler exec?:*ExecAction httpGet?:*HTTPGetAction tcpSocket?:*TCPSocketAction sleep?:*SleepAction
LimitRange metadata?:meta.ObjectMeta spec?:LimitRangeSpec
LimitRangeItem type:$LimitType max?:<ResourceList>{ResourceName}Quantity min?:<ResourceList>{ResourceName}Quantity default?:<ResourceList>{ResourceName}Quantity defaultRequest?:<ResourceList>{ResourceName}Quantity maxLimitRequestRatio?:<ResourceList>{ResourceName}Quantity
LimitRangeSpec limits:[]LimitRangeItem
LinuxContainerUser uid:int64 gid:int64 supplementalGroups?:[]int64
LoadBalancerIngress ip?:string hostname?:string ipMode?:*$LoadBalancerIPMode ports?:[]PortStatus
LoadBalancerStatus ingress?:[]LoadBalancerIngress
LocalObjectReference name?:string
LocalVolumeSource path:string fsType?:*string
ModifyVolumeStatus targetVolumeAttributesClassName?:string status:$PersistentVolumeClaimModifyVolumeStatus
NFSVolumeSource server:string path:string readOnly?:bool
Namespace metadata?:meta.ObjectMeta spec?:NamespaceSpec status?:NamespaceStatus
NamespaceCondition type:$NamespaceConditionType status:$ConditionStatus lastTransitionTime?:Time reason?:string message?:string
NamespaceSpec finalizers?:[]$FinalizerName
NamespaceStatus phase?:$NamespacePhase conditions?:[]NamespaceCondition
Node metadata?:meta.ObjectMeta spec?:NodeSpec status?:NodeStatus
NodeAddress type:$NodeAddressType address:string
NodeAffinity requiredDuringSchedulingIgnoredDuringExecution?:*NodeSelector preferredDuringSchedulingIgnoredDuringExecution?:[]PreferredSchedulingTerm
NodeAllocatableResourceClaimStatus resourceClaimName:string containers?:[]string resources:{ResourceName}Quantity
NodeCondition type:$NodeConditionType status:$ConditionStatus lastHeartbeatTime?:Time lastTransitionTime?:Time reason?:string message?:string
NodeConfigSource configMap?:*ConfigMapNodeConfigSource
NodeConfigStatus assigned?:*NodeConfigSource active?:*NodeConfigSource lastKnownGood?:*NodeConfigSource error?:string
NodeDaemonEndpoints kubeletEndpoint?:DaemonEndpoint
NodeFeatures supplementalGroupsPolicy?:*bool
NodeRuntimeHandler name:string features?:*NodeRuntimeHandlerFeatures
NodeRuntimeHandlerFeatures recursiveReadOnlyMounts?:*bool userNamespaces?:*bool
NodeSelector nodeSelectorTerms:[]NodeSelectorTerm
NodeSelectorRequirement key:string operator:$NodeSelectorOperator values?:[]string
NodeSelectorTerm matchExpressions?:[]NodeSelectorRequirement matchFields?:[]NodeSelectorRequirement
NodeSpec podCIDR?:string podCIDRs?:[]string providerID?:string unschedulable?:bool taints?:[]Taint configSource?:*NodeConfigSource externalID?:string
NodeStatus capacity?:<ResourceList>{ResourceName}Quantity allocatable?:<ResourceList>{ResourceName}Quantity phase?:$NodePhase conditions?:[]NodeCondition addresses?:[]NodeAddress daemonEndpoints?:NodeDaemonEndpoints nodeInfo?:NodeSystemInfo images?:[]ContainerImage volumesInUse?:[]$UniqueVolumeName volumesAttached?:[]AttachedVolume config?:*NodeConfigStatus runtimeHandlers?:[]NodeRuntimeHandler features?:*NodeFeatures declaredFeatures?:[]string
NodeSwapStatus capacity?:*int64
NodeSystemInfo machineID:string systemUUID:string bootID:string kernelVersion:string osImage:string containerRuntimeVersion:string kubeletVersion:string kubeProxyVersion:string operatingSystem:string architecture:string swap?:*NodeSwapStatus
ObjectFieldSelector apiVersion?:string fieldPath:string
ObjectReference kind?:string namespace?:string name?:string uid?:$types.UID apiVersion?:string resourceVersion?:string fieldPath?:string
PersistentVolume metadata?:meta.ObjectMeta spec?:PersistentVolumeSpec status?:PersistentVolumeStatus
PersistentVolumeClaim metadata?:meta.ObjectMeta spec?:PersistentVolumeClaimSpec status?:PersistentVolumeClaimStatus
PersistentVolumeClaimCondition type:$PersistentVolumeClaimConditionType status:$ConditionStatus lastProbeTime?:Time lastTransitionTime?:Time reason?:string message?:string
PersistentVolumeClaimSpec accessModes?:[]$PersistentVolumeAccessMode selector?:*meta.LabelSelector resources?:VolumeResourceRequirements volumeName?:string storageClassName?:*string volumeMode?:*$PersistentVolumeMode dataSource?:*TypedLocalObjectReference dataSourceRef?:*TypedObjectReference volumeAttributesClassName?:*string
PersistentVolumeClaimStatus phase?:$PersistentVolumeClaimPhase accessModes?:[]$PersistentVolumeAccessMode capacity?:<ResourceList>{ResourceName}Quantity conditions?:[]PersistentVolumeClaimCondition allocatedResources?:<ResourceList>{ResourceName}Quantity allocatedResourceStatuses?:{ResourceName}$ClaimResourceStatus currentVolumeAttributesClassName?:*string modifyVolumeStatus?:*ModifyVolumeStatus
PersistentVolumeClaimTemplate metadata?:meta.ObjectMeta spec:PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource claimName:string readOnly?:bool
PersistentVolumeSource gcePersistentDisk?:*GCEPersistentDiskVolumeSource awsElasticBlockStore?:*AWSElasticBlockStoreVolumeSource hostPath?:*HostPathVolumeSource glusterfs?:*GlusterfsPersistentVolumeSource nfs?:*NFSVolumeSource rbd?:*RBDPersistentVolumeSource iscsi?:*ISCSIPersistentVolumeSource cinder?:*CinderPersistentVolumeSource cephfs?:*CephFSPersistentVolumeSource fc?:*FCVolumeSource flocker?:*FlockerVolumeSource flexVolume?:*FlexPersistentVolumeSource azureFile?:*AzureFilePersistentVolumeSource vsphereVolume?:*VsphereVirtualDiskVolumeSource quobyte?:*QuobyteVolumeSource azureDisk?:*AzureDiskVolumeSource photonPersistentDisk?:*PhotonPersistentDiskVolumeSource portworxVolume?:*PortworxVolumeSource scaleIO?:*ScaleIOPersistentVolumeSource local?:*LocalVolumeSource storageos?:*StorageOSPersistentVolumeSource csi?:*CSIPersistentVolumeSource
PersistentVolumeSpec capacity?:<ResourceList>{ResourceName}Quantity +PersistentVolumeSource:PersistentVolumeSource accessModes?:[]$PersistentVolumeAccessMode claimRef?:*ObjectReference persistentVolumeReclaimPolicy?:$PersistentVolumeReclaimPolicy storageClassName?:string mountOptions?:[]string volumeMode?:*$PersistentVolumeMode nodeAffinity?:*VolumeNodeAffinity volumeAttributesClassName?:*string
PersistentVolumeStatus phase?:$PersistentVolumePhase message?:string reason?:string lastPhaseTransitionTime?:*Time
PhotonPersistentDiskVolumeSource pdID:string fsType?:string
Pod metadata?:meta.ObjectMeta spec?:PodSpec status?:PodStatus
PodAffinity requiredDuringSchedulingIgnoredDuringExecution?:[]PodAffinityTerm preferredDuringSchedulingIgnoredDuringExecution?:[]WeightedPodAffinityTerm
PodAffinityTerm labelSelector?:*meta.LabelSelector namespaces?:[]string topologyKey:string namespaceSelector?:*meta.LabelSelector matchLabelKeys?:[]string mismatchLabelKeys?:[]string
PodAntiAffinity requiredDuringSchedulingIgnoredDuringExecution?:[]PodAffinityTerm preferredDuringSchedulingIgnoredDuringExecution?:[]WeightedPodAffinityTerm
PodCertificateProjection signerName?:string keyType?:string maxExpirationSeconds?:*int32 credentialBundlePath?:string keyPath?:string certificateChainPath?:string userAnnotations?:{}string
PodCondition type:$PodConditionType observedGeneration?:int64 status:$ConditionStatus lastProbeTime?:Time lastTransitionTime?:Time reason?:string message?:string
PodDNSConfig nameservers?:[]string searches?:[]string options?:[]PodDNSConfigOption
PodDNSConfigOption name?:string value?:*string
PodExtendedResourceClaimStatus requestMappings:[]ContainerExtendedResourceRequest resourceClaimName:string
PodIP ip:string
PodOS name:$OSName
PodReadinessGate conditionType:$PodConditionType
PodResourceClaim name:string resourceClaimName?:*string resourceClaimTemplateName?:*string
PodResourceClaimStatus name:string resourceClaimName?:*string
PodSchedulingGate name:string
PodSchedulingGroup podGroupName?:*string
PodSecurityContext seLinuxOptions?:*SELinuxOptions windowsOptions?:*WindowsSecurityContextOptions runAsUser?:*int64 runAsGroup?:*int64 runAsNonRoot?:*bool supplementalGroups?:[]int64 supplementalGroupsPolicy?:*$SupplementalGroupsPolicy fsGroup?:*int64 sysctls?:[]Sysctl fsGroupChangePolicy?:*$PodFSGroupChangePolicy seccompProfile?:*SeccompProfile appArmorProfile?:*AppArmorProfile seLinuxChangePolicy?:*$PodSELinuxChangePolicy
PodSpec volumes?:[]Volume initContainers?:[]Container containers:[]Container ephemeralContainers?:[]EphemeralContainer restartPolicy?:$RestartPolicy terminationGracePeriodSeconds?:*int64 activeDeadlineSeconds?:*int64 dnsPolicy?:$DNSPolicy nodeSelector?:{}string serviceAccountName?:string serviceAccount?:string automountServiceAccountToken?:*bool nodeName?:string hostNetwork?:bool hostPID?:bool hostIPC?:bool shareProcessNamespace?:*bool securityContext?:*PodSecurityContext imagePullSecrets?:[]LocalObjectReference hostname?:string subdomain?:string affinity?:*Affinity schedulerName?:string tolerations?:[]Toleration hostAliases?:[]HostAlias priorityClassName?:string priority?:*int32 dnsConfig?:*PodDNSConfig readinessGates?:[]PodReadinessGate runtimeClassName?:*string enableServiceLinks?:*bool preemptionPolicy?:*$PreemptionPolicy overhead?:<ResourceList>{ResourceName}Quantity topologySpreadConstraints?:[]TopologySpreadConstraint setHostnameAsFQDN?:*bool os?:*PodOS hostUsers?:*bool schedulingGates?:[]PodSchedulingGate resourceClaims?:[]PodResourceClaim resources?:*ResourceRequirements hostnameOverride?:*string schedulingGroup?:*PodSchedulingGroup
PodStatus observedGeneration?:int64 phase?:$PodPhase conditions?:[]PodCondition message?:string reason?:string nominatedNodeName?:string hostIP?:string hostIPs?:[]HostIP podIP?:string podIPs?:[]PodIP startTime?:*Time initContainerStatuses?:[]ContainerStatus containerStatuses?:[]ContainerStatus qosClass?:$PodQOSClass ephemeralContainerStatuses?:[]ContainerStatus resize?:$PodResizeStatus resourceClaimStatuses?:[]PodResourceClaimStatus extendedResourceClaimStatus?:*PodExtendedResourceClaimStatus allocatedResources?:<ResourceList>{ResourceName}Quantity resources?:*ResourceRequirements nodeAllocatableResourceClaimStatuses?:[]NodeAllocatableResourceClaimStatus
PodTemplate metadata?:meta.ObjectMeta template?:PodTemplateSpec
PodTemplateSpec metadata?:meta.ObjectMeta spec?:PodSpec
PortStatus port:int32 protocol:$Protocol error?:*string
PortworxVolumeSource volumeID:string fsType?:string readOnly?:bool
PreferredSchedulingTerm weight:int32 preference:NodeSelectorTerm
Probe +ProbeHandler:ProbeHandler initialDelaySeconds?:int32 timeoutSeconds?:int32 periodSeconds?:int32 successThreshold?:int32 failureThreshold?:int32 terminationGracePeriodSeconds?:*int64
ProbeHandler exec?:*ExecAction httpGet?:*HTTPGetAction tcpSocket?:*TCPSocketAction grpc?:*GRPCAction
ProjectedVolumeSource sources:[]VolumeProjection defaultMode?:*int32
QuobyteVolumeSource registry:string volume:string readOnly?:bool user?:string group?:string tenant?:string
RBDPersistentVolumeSource monitors:[]string image:string fsType?:string pool?:string user?:string keyring?:string secretRef?:*SecretReference readOnly?:bool
RBDVolumeSource monitors:[]string image:string fsType?:string pool?:string user?:string keyring?:string secretRef?:*LocalObjectReference readOnly?:bool
ReplicationController metadata?:meta.ObjectMeta spec?:ReplicationControllerSpec status?:ReplicationControllerStatus
ReplicationControllerCondition type:$ReplicationControllerConditionType status:$ConditionStatus lastTransitionTime?:Time reason?:string message?:string
ReplicationControllerSpec replicas?:*int32 minReadySeconds?:int32 selector?:{}string template?:*PodTemplateSpec
ReplicationControllerStatus replicas:int32 fullyLabeledReplicas?:int32 readyReplicas?:int32 availableReplicas?:int32 observedGeneration?:int64 conditions?:[]ReplicationControllerCondition
ResourceClaim name:string request?:string
ResourceFieldSelector containerName?:string resource:string divisor?:Quantity
ResourceHealth resourceID:$ResourceID health?:$ResourceHealthStatus message?:*string
ResourceQuota metadata?:meta.ObjectMeta spec?:ResourceQuotaSpec status?:ResourceQuotaStatus
ResourceQuotaSpec hard?:<ResourceList>{ResourceName}Quantity scopes?:[]$ResourceQuotaScope scopeSelector?:*ScopeSelector
ResourceQuotaStatus hard?:<ResourceList>{ResourceName}Quantity used?:<ResourceList>{ResourceName}Quantity
ResourceRequirements limits?:<ResourceList>{ResourceName}Quantity requests?:<ResourceList>{ResourceName}Quantity claims?:[]ResourceClaim
ResourceStatus name:$ResourceName resources?:[]ResourceHealth
SELinuxOptions user?:string role?:string type?:string level?:string
ScaleIOPersistentVolumeSource gateway:string system:string secretRef:*SecretReference sslEnabled?:bool protectionDomain?:string storagePool?:string storageMode?:string volumeName?:string fsType?:string readOnly?:bool
ScaleIOVolumeSource gateway:string system:string secretRef:*LocalObjectReference sslEnabled?:bool protectionDomain?:string storagePool?:string storageMode?:string volumeName?:string fsType?:string readOnly?:bool
ScopeSelector matchExpressions?:[]ScopedResourceSelectorRequirement
ScopedResourceSelectorRequirement scopeName:$ResourceQuotaScope operator:$ScopeSelectorOperator values?:[]string
SeccompProfile type:$SeccompProfileType localhostProfile?:*string
Secret metadata?:meta.ObjectMeta immutable?:*bool data?:{}bytes stringData?:{}string type?:$SecretType
SecretEnvSource +LocalObjectReference:LocalObjectReference optional?:*bool
SecretKeySelector +LocalObjectReference:LocalObjectReference key:string optional?:*bool
SecretProjection +LocalObjectReference:LocalObjectReference items?:[]KeyToPath optional?:*bool
SecretReference name?:string namespace?:string
SecretVolumeSource secretName?:string items?:[]KeyToPath defaultMode?:*int32 optional?:*bool
SecurityContext capabilities?:*Capabilities privileged?:*bool seLinuxOptions?:*SELinuxOptions windowsOptions?:*WindowsSecurityContextOptions runAsUser?:*int64 runAsGroup?:*int64 runAsNonRoot?:*bool readOnlyRootFilesystem?:*bool allowPrivilegeEscalation?:*bool procMount?:*$ProcMountType seccompProfile?:*SeccompProfile appArmorProfile?:*AppArmorProfile
Service metadata?:meta.ObjectMeta spec?:ServiceSpec status?:ServiceStatus
ServiceAccount metadata?:meta.ObjectMeta secrets?:[]ObjectReference imagePullSecrets?:[]LocalObjectReference automountServiceAccountToken?:*bool
ServiceAccountTokenProjection audience?:string expirationSeconds?:*int64 path:string
ServicePort name?:string protocol?:$Protocol appProtocol?:*string port:int32 targetPort?:IntOrString nodePort?:int32
ServiceSpec ports?:[]ServicePort selector?:{}string clusterIP?:string clusterIPs?:[]string type?:$ServiceType externalIPs?:[]string sessionAffinity?:$ServiceAffinity loadBalancerIP?:string loadBalancerSourceRanges?:[]string externalName?:string externalTrafficPolicy?:$ServiceExternalTrafficPolicy healthCheckNodePort?:int32 publishNotReadyAddresses?:bool sessionAffinityConfig?:*SessionAffinityConfig ipFamilies?:[]$IPFamily ipFamilyPolicy?:*$IPFamilyPolicy allocateLoadBalancerNodePorts?:*bool loadBalancerClass?:*string internalTrafficPolicy?:*$ServiceInternalTrafficPolicy trafficDistribution?:*string
ServiceStatus loadBalancer?:LoadBalancerStatus conditions?:[]meta.Condition
SessionAffinityConfig clientIP?:*ClientIPConfig
SleepAction seconds:int64
StorageOSPersistentVolumeSource volumeName?:string volumeNamespace?:string fsType?:string readOnly?:bool secretRef?:*ObjectReference
StorageOSVolumeSource volumeName?:string volumeNamespace?:string fsType?:string readOnly?:bool secretRef?:*LocalObjectReference
Sysctl name:string value:string
TCPSocketAction port:IntOrString host?:string
Taint key:string value?:string effect:$TaintEffect timeAdded?:*Time
Toleration key?:string operator?:$TolerationOperator value?:string effect?:$TaintEffect tolerationSeconds?:*int64
TopologySelectorLabelRequirement key:string values:[]string
TopologySelectorTerm matchLabelExpressions?:[]TopologySelectorLabelRequirement
TopologySpreadConstraint maxSkew:int32 topologyKey:string whenUnsatisfiable:$UnsatisfiableConstraintAction labelSelector?:*meta.LabelSelector minDomains?:*int32 nodeAffinityPolicy?:*$NodeInclusionPolicy nodeTaintsPolicy?:*$NodeInclusionPolicy matchLabelKeys?:[]string
TypedLocalObjectReference apiGroup:*string kind:string name:string
TypedObjectReference apiGroup:*string kind:string name:string namespace?:*string
Volume name:string +VolumeSource:VolumeSource
VolumeDevice name:string devicePath:string
VolumeMount name:string readOnly?:bool recursiveReadOnly?:*$RecursiveReadOnlyMode mountPath:string subPath?:string mountPropagation?:*$MountPropagationMode subPathExpr?:string
VolumeMountStatus name:string mountPath:string readOnly?:bool recursiveReadOnly?:*$RecursiveReadOnlyMode volumeStatus?:*VolumeStatus
VolumeNodeAffinity required?:*NodeSelector
VolumeProjection secret?:*SecretProjection downwardAPI?:*DownwardAPIProjection configMap?:*ConfigMapProjection serviceAccountToken?:*ServiceAccountTokenProjection clusterTrustBundle?:*ClusterTrustBundleProjection podCertificate?:*PodCertificateProjection
VolumeResourceRequirements limits?:<ResourceList>{ResourceName}Quantity requests?:<ResourceList>{ResourceName}Quantity
VolumeSource hostPath?:*HostPathVolumeSource emptyDir?:*EmptyDirVolumeSource gcePersistentDisk?:*GCEPersistentDiskVolumeSource awsElasticBlockStore?:*AWSElasticBlockStoreVolumeSource gitRepo?:*GitRepoVolumeSource secret?:*SecretVolumeSource nfs?:*NFSVolumeSource iscsi?:*ISCSIVolumeSource glusterfs?:*GlusterfsVolumeSource persistentVolumeClaim?:*PersistentVolumeClaimVolumeSource rbd?:*RBDVolumeSource flexVolume?:*FlexVolumeSource cinder?:*CinderVolumeSource cephfs?:*CephFSVolumeSource flocker?:*FlockerVolumeSource downwardAPI?:*DownwardAPIVolumeSource fc?:*FCVolumeSource azureFile?:*AzureFileVolumeSource configMap?:*ConfigMapVolumeSource vsphereVolume?:*VsphereVirtualDiskVolumeSource quobyte?:*QuobyteVolumeSource azureDisk?:*AzureDiskVolumeSource photonPersistentDisk?:*PhotonPersistentDiskVolumeSource projected?:*ProjectedVolumeSource portworxVolume?:*PortworxVolumeSource scaleIO?:*ScaleIOVolumeSource storageos?:*StorageOSVolumeSource csi?:*CSIVolumeSource ephemeral?:*EphemeralVolumeSource image?:*ImageVolumeSource
VolumeStatus image?:*ImageVolumeStatus
VsphereVirtualDiskVolumeSource volumePath:string fsType?:string storagePolicyName?:string storagePolicyID?:string
WeightedPodAffinityTerm weight:int32 podAffinityTerm:PodAffinityTerm
WindowsSecurityContextOptions gmsaCredentialSpecName?:*string gmsaCredentialSpec?:*string runAsUserName?:*string hostProcess?:*bool
`;

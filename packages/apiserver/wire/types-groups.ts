/**
 * How the fields of all other groups' types are written in JSON, one type a line in the notation that `wire-types.ts` reads. Facts of
 * Kubernetes 1.36, printed from its Go types.
 */
export const GROUP_TYPES = `
# admissionregistration
MatchCondition name:string expression:string
MutatingWebhook name:string clientConfig:WebhookClientConfig rules?:[]RuleWithOperations failurePolicy?:*$FailurePolicyType matchPolicy?:*$MatchPolicyType namespaceSelector?:*meta.LabelSelector objectSelector?:*meta.LabelSelector sideEffects:*$SideEffectClass timeoutSeconds?:*int32 admissionReviewVersions:[]string reinvocationPolicy?:*$ReinvocationPolicyType matchConditions?:[]MatchCondition
MutatingWebhookConfiguration metadata?:meta.ObjectMeta webhooks?:[]MutatingWebhook
Rule apiGroups?:[]string apiVersions?:[]string resources?:[]string scope?:*$ScopeType
RuleWithOperations operations?:[]$OperationType +Rule:Rule
ServiceReference namespace:string name:string path?:*string port?:*int32
ValidatingWebhook name:string clientConfig:WebhookClientConfig rules?:[]RuleWithOperations failurePolicy?:*$FailurePolicyType matchPolicy?:*$MatchPolicyType namespaceSelector?:*meta.LabelSelector objectSelector?:*meta.LabelSelector sideEffects:*$SideEffectClass timeoutSeconds?:*int32 admissionReviewVersions:[]string matchConditions?:[]MatchCondition
ValidatingWebhookConfiguration metadata?:meta.ObjectMeta webhooks?:[]ValidatingWebhook
WebhookClientConfig url?:*string service?:*ServiceReference caBundle?:bytes
# apiextensions
CustomResourceColumnDefinition name:string type:string format?:string description?:string priority?:int32 jsonPath:string
CustomResourceConversion strategy:$ConversionStrategyType webhook?:*WebhookConversion
CustomResourceDefinition metadata?:meta.ObjectMeta spec:CustomResourceDefinitionSpec status?:CustomResourceDefinitionStatus
CustomResourceDefinitionCondition type:$CustomResourceDefinitionConditionType status:$ConditionStatus lastTransitionTime?:Time reason?:string message?:string observedGeneration?:int64
CustomResourceDefinitionNames plural:string singular?:string shortNames?:[]string kind:string listKind?:string categories?:[]string
CustomResourceDefinitionSpec group:string names:CustomResourceDefinitionNames scope:$ResourceScope versions:[]CustomResourceDefinitionVersion conversion?:*CustomResourceConversion preserveUnknownFields?:bool
CustomResourceDefinitionStatus conditions:[]CustomResourceDefinitionCondition acceptedNames:CustomResourceDefinitionNames storedVersions:[]string observedGeneration?:int64
CustomResourceDefinitionVersion name:string served:bool storage:bool deprecated?:bool deprecationWarning?:*string schema?:*CustomResourceValidation subresources?:*CustomResourceSubresources additionalPrinterColumns?:[]CustomResourceColumnDefinition selectableFields?:[]SelectableField
CustomResourceSubresourceScale specReplicasPath:string statusReplicasPath:string labelSelectorPath?:*string
CustomResourceSubresourceStatus
CustomResourceSubresources status?:*CustomResourceSubresourceStatus scale?:*CustomResourceSubresourceScale
CustomResourceValidation openAPIV3Schema?:*JSONSchemaProps
ExternalDocumentation description?:string url?:string
JSONSchemaProps id?:string $schema?:$JSONSchemaURL $ref?:*string description?:string type?:string format?:string title?:string default?:*Raw maximum?:*float64 exclusiveMaximum?:bool minimum?:*float64 exclusiveMinimum?:bool maxLength?:*int64 minLength?:*int64 pattern?:string maxItems?:*int64 minItems?:*int64 uniqueItems?:bool multipleOf?:*float64 enum?:[]Raw maxProperties?:*int64 minProperties?:*int64 required?:[]string items?:*SchemaOrArray allOf?:[]JSONSchemaProps oneOf?:[]JSONSchemaProps anyOf?:[]JSONSchemaProps not?:*JSONSchemaProps properties?:{}JSONSchemaProps additionalProperties?:*SchemaOrBool patternProperties?:{}JSONSchemaProps dependencies?:*Raw additionalItems?:*SchemaOrBool definitions?:<JSONSchemaDefinitions>{}JSONSchemaProps externalDocs?:*ExternalDocumentation example?:*Raw nullable?:bool x-kubernetes-preserve-unknown-fields?:*bool x-kubernetes-embedded-resource?:bool x-kubernetes-int-or-string?:bool x-kubernetes-list-map-keys?:[]string x-kubernetes-list-type?:*string x-kubernetes-map-type?:*string x-kubernetes-validations?:<ValidationRules>[]ValidationRule
SelectableField jsonPath:string
ServiceReference namespace:string name:string path?:*string port?:*int32
ValidationRule rule:string message?:string messageExpression?:string reason?:*$FieldValueErrorReason fieldPath?:string optionalOldSelf?:*bool
WebhookClientConfig url?:*string service?:*ServiceReference caBundle?:bytes
WebhookConversion clientConfig?:*WebhookClientConfig conversionReviewVersions:[]string
# apiregistration
APIService metadata?:meta.ObjectMeta spec?:APIServiceSpec status?:APIServiceStatus
APIServiceCondition type:$APIServiceConditionType status:$ConditionStatus lastTransitionTime?:Time reason?:string message?:string
APIServiceSpec service?:*ServiceReference group?:string version?:string insecureSkipTLSVerify?:bool caBundle?:bytes groupPriorityMinimum:int32 versionPriority:int32
APIServiceStatus conditions?:[]APIServiceCondition
ServiceReference namespace?:string name?:string port?:*int32
# apps
ControllerRevision metadata?:meta.ObjectMeta data?:Raw revision:int64
DaemonSet metadata?:meta.ObjectMeta spec?:DaemonSetSpec status?:DaemonSetStatus
DaemonSetCondition type:$DaemonSetConditionType status:$ConditionStatus lastTransitionTime?:Time reason?:string message?:string
DaemonSetSpec selector:*meta.LabelSelector template:core.PodTemplateSpec updateStrategy?:DaemonSetUpdateStrategy minReadySeconds?:int32 revisionHistoryLimit?:*int32
DaemonSetStatus currentNumberScheduled:int32 numberMisscheduled:int32 desiredNumberScheduled:int32 numberReady:int32 observedGeneration?:int64 updatedNumberScheduled?:int32 numberAvailable?:int32 numberUnavailable?:int32 collisionCount?:*int32 conditions?:[]DaemonSetCondition
DaemonSetUpdateStrategy type?:$DaemonSetUpdateStrategyType rollingUpdate?:*RollingUpdateDaemonSet
Deployment metadata?:meta.ObjectMeta spec?:DeploymentSpec status?:DeploymentStatus
DeploymentCondition type:$DeploymentConditionType status:$ConditionStatus lastUpdateTime?:Time lastTransitionTime?:Time reason?:string message?:string
DeploymentSpec replicas?:*int32 selector:*meta.LabelSelector template:core.PodTemplateSpec strategy?:DeploymentStrategy minReadySeconds?:int32 revisionHistoryLimit?:*int32 paused?:bool progressDeadlineSeconds?:*int32
DeploymentStatus observedGeneration?:int64 replicas?:int32 updatedReplicas?:int32 readyReplicas?:int32 availableReplicas?:int32 unavailableReplicas?:int32 terminatingReplicas?:*int32 conditions?:[]DeploymentCondition collisionCount?:*int32
DeploymentStrategy type?:$DeploymentStrategyType rollingUpdate?:*RollingUpdateDeployment
ReplicaSet metadata?:meta.ObjectMeta spec?:ReplicaSetSpec status?:ReplicaSetStatus
ReplicaSetCondition type:$ReplicaSetConditionType status:$ConditionStatus lastTransitionTime?:Time reason?:string message?:string
ReplicaSetSpec replicas?:*int32 minReadySeconds?:int32 selector:*meta.LabelSelector template?:core.PodTemplateSpec
ReplicaSetStatus replicas:int32 fullyLabeledReplicas?:int32 readyReplicas?:int32 availableReplicas?:int32 terminatingReplicas?:*int32 observedGeneration?:int64 conditions?:[]ReplicaSetCondition
RollingUpdateDaemonSet maxUnavailable?:*IntOrString maxSurge?:*IntOrString
RollingUpdateDeployment maxUnavailable?:*IntOrString maxSurge?:*IntOrString
RollingUpdateStatefulSetStrategy partition?:*int32 maxUnavailable?:*IntOrString
StatefulSet metadata?:meta.ObjectMeta spec?:StatefulSetSpec status?:StatefulSetStatus
StatefulSetCondition type:$StatefulSetConditionType status:$ConditionStatus lastTransitionTime?:Time reason?:string message?:string
StatefulSetOrdinals start:int32
StatefulSetPersistentVolumeClaimRetentionPolicy whenDeleted?:$PersistentVolumeClaimRetentionPolicyType whenScaled?:$PersistentVolumeClaimRetentionPolicyType
StatefulSetSpec replicas?:*int32 selector:*meta.LabelSelector template:core.PodTemplateSpec volumeClaimTemplates?:[]core.PersistentVolumeClaim serviceName:string podManagementPolicy?:$PodManagementPolicyType updateStrategy?:StatefulSetUpdateStrategy revisionHistoryLimit?:*int32 minReadySeconds?:int32 persistentVolumeClaimRetentionPolicy?:*StatefulSetPersistentVolumeClaimRetentionPolicy ordinals?:*StatefulSetOrdinals
StatefulSetStatus observedGeneration?:int64 replicas:int32 readyReplicas?:int32 currentReplicas?:int32 updatedReplicas?:int32 currentRevision?:string updateRevision?:string collisionCount?:*int32 conditions?:[]StatefulSetCondition availableReplicas:int32
StatefulSetUpdateStrategy type?:$StatefulSetUpdateStrategyType rollingUpdate?:*RollingUpdateStatefulSetStrategy
# authentication
BoundObjectReference kind?:string apiVersion?:string name?:string uid?:$types.UID
SelfSubjectReview metadata?:meta.ObjectMeta status?:SelfSubjectReviewStatus
SelfSubjectReviewStatus userInfo?:UserInfo
TokenRequest metadata?:meta.ObjectMeta spec:TokenRequestSpec status?:TokenRequestStatus
TokenRequestSpec audiences:[]string expirationSeconds:*int64 boundObjectRef:*BoundObjectReference
TokenRequestStatus token:string expirationTimestamp:Time
TokenReview metadata?:meta.ObjectMeta spec:TokenReviewSpec status?:TokenReviewStatus
TokenReviewSpec token?:string audiences?:[]string
TokenReviewStatus authenticated?:bool user?:UserInfo audiences?:[]string error?:string
UserInfo username?:string uid?:string groups?:[]string extra?:{}<ExtraValue>[]string
# authorization
FieldSelectorAttributes rawSelector?:string requirements?:[]meta.FieldSelectorRequirement
LabelSelectorAttributes rawSelector?:string requirements?:[]meta.LabelSelectorRequirement
LocalSubjectAccessReview metadata?:meta.ObjectMeta spec:SubjectAccessReviewSpec status?:SubjectAccessReviewStatus
NonResourceAttributes path?:string verb?:string
NonResourceRule verbs:[]string nonResourceURLs?:[]string
ResourceAttributes namespace?:string verb?:string group?:string version?:string resource?:string subresource?:string name?:string fieldSelector?:*FieldSelectorAttributes labelSelector?:*LabelSelectorAttributes
ResourceRule verbs:[]string apiGroups?:[]string resources?:[]string resourceNames?:[]string
SelfSubjectAccessReview metadata?:meta.ObjectMeta spec:SelfSubjectAccessReviewSpec status?:SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec resourceAttributes?:*ResourceAttributes nonResourceAttributes?:*NonResourceAttributes
SelfSubjectRulesReview metadata?:meta.ObjectMeta spec:SelfSubjectRulesReviewSpec status?:SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec namespace?:string
SubjectAccessReview metadata?:meta.ObjectMeta spec:SubjectAccessReviewSpec status?:SubjectAccessReviewStatus
SubjectAccessReviewSpec resourceAttributes?:*ResourceAttributes nonResourceAttributes?:*NonResourceAttributes user?:string groups?:[]string extra?:{}<ExtraValue>[]string uid?:string
SubjectAccessReviewStatus allowed:bool denied?:bool reason?:string evaluationError?:string
SubjectRulesReviewStatus resourceRules:[]ResourceRule nonResourceRules:[]NonResourceRule incomplete:bool evaluationError?:string
# autoscaling
CrossVersionObjectReference kind:string name:string apiVersion?:string
HorizontalPodAutoscaler metadata?:meta.ObjectMeta spec?:HorizontalPodAutoscalerSpec status?:HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerSpec scaleTargetRef:CrossVersionObjectReference minReplicas?:*int32 maxReplicas:int32 targetCPUUtilizationPercentage?:*int32
HorizontalPodAutoscalerStatus observedGeneration?:*int64 lastScaleTime?:*Time currentReplicas:int32 desiredReplicas:int32 currentCPUUtilizationPercentage?:*int32
Scale metadata?:meta.ObjectMeta spec?:ScaleSpec status?:ScaleStatus
ScaleSpec replicas?:int32
ScaleStatus replicas:int32 selector?:string
# batch
CronJob metadata?:meta.ObjectMeta spec?:CronJobSpec status?:CronJobStatus
CronJobSpec schedule:string timeZone?:*string startingDeadlineSeconds?:*int64 concurrencyPolicy?:$ConcurrencyPolicy suspend?:*bool jobTemplate:JobTemplateSpec successfulJobsHistoryLimit?:*int32 failedJobsHistoryLimit?:*int32
CronJobStatus active?:[]core.ObjectReference lastScheduleTime?:*Time lastSuccessfulTime?:*Time
Job metadata?:meta.ObjectMeta spec?:JobSpec status?:JobStatus
JobCondition type:$JobConditionType status:$ConditionStatus lastProbeTime?:Time lastTransitionTime?:Time reason?:string message?:string
JobSpec parallelism?:*int32 completions?:*int32 activeDeadlineSeconds?:*int64 podFailurePolicy?:*PodFailurePolicy successPolicy?:*SuccessPolicy backoffLimit?:*int32 backoffLimitPerIndex?:*int32 maxFailedIndexes?:*int32 selector?:*meta.LabelSelector manualSelector?:*bool template:core.PodTemplateSpec ttlSecondsAfterFinished?:*int32 completionMode?:*$CompletionMode suspend?:*bool podReplacementPolicy?:*$PodReplacementPolicy managedBy?:*string
JobStatus conditions?:[]JobCondition startTime?:*Time completionTime?:*Time active?:int32 succeeded?:int32 failed?:int32 terminating?:*int32 completedIndexes?:string failedIndexes?:*string uncountedTerminatedPods?:*UncountedTerminatedPods ready?:*int32
JobTemplateSpec metadata?:meta.ObjectMeta spec?:JobSpec
PodFailurePolicy rules:[]PodFailurePolicyRule
PodFailurePolicyOnExitCodesRequirement containerName?:*string operator:$PodFailurePolicyOnExitCodesOperator values:[]int32
PodFailurePolicyOnPodConditionsPattern type:$PodConditionType status:$ConditionStatus
PodFailurePolicyRule action:$PodFailurePolicyAction onExitCodes?:*PodFailurePolicyOnExitCodesRequirement onPodConditions?:[]PodFailurePolicyOnPodConditionsPattern
SuccessPolicy rules:[]SuccessPolicyRule
SuccessPolicyRule succeededIndexes?:*string succeededCount?:*int32
UncountedTerminatedPods succeeded?:[]$types.UID failed?:[]$types.UID
# certificates
CertificateSigningRequest metadata?:meta.ObjectMeta spec:CertificateSigningRequestSpec status?:CertificateSigningRequestStatus
CertificateSigningRequestCondition type:$RequestConditionType status:$ConditionStatus reason?:string message?:string lastUpdateTime?:Time lastTransitionTime?:Time
CertificateSigningRequestSpec request:bytes signerName:string expirationSeconds?:*int32 usages?:[]$KeyUsage username?:string uid?:string groups?:[]string extra?:{}<ExtraValue>[]string
CertificateSigningRequestStatus conditions?:[]CertificateSigningRequestCondition certificate?:bytes
# coordination
Lease metadata?:meta.ObjectMeta spec?:LeaseSpec
LeaseSpec holderIdentity?:*string leaseDurationSeconds?:*int32 acquireTime?:*MicroTime renewTime?:*MicroTime leaseTransitions?:*int32 strategy?:*$CoordinatedLeaseStrategy preferredHolder?:*string
# discovery
Endpoint addresses:[]string conditions?:EndpointConditions hostname?:*string targetRef?:*core.ObjectReference deprecatedTopology?:{}string nodeName?:*string zone?:*string hints?:*EndpointHints
EndpointConditions ready?:*bool serving?:*bool terminating?:*bool
EndpointHints forZones?:[]ForZone forNodes?:[]ForNode
EndpointPort name?:*string protocol?:*$Protocol port?:*int32 appProtocol?:*string
EndpointSlice metadata?:meta.ObjectMeta addressType:$AddressType endpoints:[]Endpoint ports:[]EndpointPort
ForNode name:string
ForZone name:string
# events
Event metadata:meta.ObjectMeta eventTime:MicroTime series?:*EventSeries reportingController?:string reportingInstance?:string action?:string reason?:string regarding?:core.ObjectReference related?:*core.ObjectReference note?:string type?:string deprecatedSource?:core.EventSource deprecatedFirstTimestamp?:Time deprecatedLastTimestamp?:Time deprecatedCount?:int32
EventSeries count:int32 lastObservedTime:MicroTime
# meta
Condition type:string status:$ConditionStatus observedGeneration?:int64 lastTransitionTime:Time reason:string message:string
DeleteOptions gracePeriodSeconds?:*int64 preconditions?:*Preconditions orphanDependents?:*bool propagationPolicy?:*$DeletionPropagation dryRun?:[]string ignoreStoreReadErrorWithClusterBreakingPotential?:*bool
FieldSelectorRequirement key:string operator:$FieldSelectorOperator values?:[]string
LabelSelector matchLabels?:{}string matchExpressions?:[]LabelSelectorRequirement
LabelSelectorRequirement key:string operator:$LabelSelectorOperator values?:[]string
ManagedFieldsEntry manager?:string operation?:$ManagedFieldsOperationType apiVersion?:string time?:*Time fieldsType?:string fieldsV1?:*FieldsV1 subresource?:string
ObjectMeta name?:string generateName?:string namespace?:string selfLink?:string uid?:$types.UID resourceVersion?:string generation?:int64 creationTimestamp~:Time deletionTimestamp?:*Time deletionGracePeriodSeconds?:*int64 labels?:{}string annotations?:{}string ownerReferences?:[]OwnerReference finalizers?:[]string managedFields?:[]ManagedFieldsEntry
OwnerReference apiVersion:string kind:string name:string uid:$types.UID controller?:*bool blockOwnerDeletion?:*bool
Preconditions uid?:*$types.UID resourceVersion?:*string
# networking
HTTPIngressPath path?:string pathType:*$PathType backend:IngressBackend
HTTPIngressRuleValue paths:[]HTTPIngressPath
IPBlock cidr:string except?:[]string
Ingress metadata?:meta.ObjectMeta spec?:IngressSpec status?:IngressStatus
IngressBackend service?:*IngressServiceBackend resource?:*core.TypedLocalObjectReference
IngressClass metadata?:meta.ObjectMeta spec?:IngressClassSpec
IngressClassParametersReference apiGroup?:*string kind:string name:string scope:*string namespace?:*string
IngressClassSpec controller?:string parameters?:*IngressClassParametersReference
IngressLoadBalancerIngress ip?:string hostname?:string ports?:[]IngressPortStatus
IngressLoadBalancerStatus ingress?:[]IngressLoadBalancerIngress
IngressPortStatus port:int32 protocol:$Protocol error?:*string
IngressRule host?:string +IngressRuleValue:IngressRuleValue
IngressRuleValue http?:*HTTPIngressRuleValue
IngressServiceBackend name:string port?:ServiceBackendPort
IngressSpec ingressClassName?:*string defaultBackend?:*IngressBackend tls?:[]IngressTLS rules?:[]IngressRule
IngressStatus loadBalancer?:IngressLoadBalancerStatus
IngressTLS hosts?:[]string secretName?:string
NetworkPolicy metadata?:meta.ObjectMeta spec?:NetworkPolicySpec
NetworkPolicyEgressRule ports?:[]NetworkPolicyPort to?:[]NetworkPolicyPeer
NetworkPolicyIngressRule ports?:[]NetworkPolicyPort from?:[]NetworkPolicyPeer
NetworkPolicyPeer podSelector?:*meta.LabelSelector namespaceSelector?:*meta.LabelSelector ipBlock?:*IPBlock
NetworkPolicyPort protocol?:*$Protocol port?:*IntOrString endPort?:*int32
NetworkPolicySpec podSelector:meta.LabelSelector ingress?:[]NetworkPolicyIngressRule egress?:[]NetworkPolicyEgressRule policyTypes?:[]$PolicyType
ServiceBackendPort name?:string number?:int32
# node
Overhead podFixed?:<ResourceList>{ResourceName}Quantity
RuntimeClass metadata?:meta.ObjectMeta handler:string overhead?:*Overhead scheduling?:*Scheduling
Scheduling nodeSelector?:{}string tolerations?:[]core.Toleration
# policy
Eviction metadata?:meta.ObjectMeta deleteOptions?:*meta.DeleteOptions
PodDisruptionBudget metadata?:meta.ObjectMeta spec?:PodDisruptionBudgetSpec status?:PodDisruptionBudgetStatus
PodDisruptionBudgetSpec minAvailable?:*IntOrString selector?:*meta.LabelSelector maxUnavailable?:*IntOrString unhealthyPodEvictionPolicy?:*$UnhealthyPodEvictionPolicyType
PodDisruptionBudgetStatus observedGeneration?:int64 disruptedPods?:{}Time disruptionsAllowed:int32 currentHealthy:int32 desiredHealthy:int32 expectedPods:int32 conditions?:[]meta.Condition
# rbac
AggregationRule clusterRoleSelectors?:[]meta.LabelSelector
ClusterRole metadata?:meta.ObjectMeta rules:[]PolicyRule aggregationRule?:*AggregationRule
ClusterRoleBinding metadata?:meta.ObjectMeta subjects?:[]Subject roleRef:RoleRef
PolicyRule verbs:[]string apiGroups?:[]string resources?:[]string resourceNames?:[]string nonResourceURLs?:[]string
Role metadata?:meta.ObjectMeta rules:[]PolicyRule
RoleBinding metadata?:meta.ObjectMeta subjects?:[]Subject roleRef:RoleRef
RoleRef apiGroup:string kind:string name:string
Subject kind:string apiGroup?:string name:string namespace?:string
# scheduling
PriorityClass metadata?:meta.ObjectMeta value:int32 globalDefault?:bool description?:string preemptionPolicy?:*$PreemptionPolicy
# storage
CSIDriver metadata?:meta.ObjectMeta spec:CSIDriverSpec
CSIDriverSpec attachRequired?:*bool podInfoOnMount?:*bool volumeLifecycleModes?:[]$VolumeLifecycleMode storageCapacity?:*bool fsGroupPolicy?:*$FSGroupPolicy tokenRequests?:[]TokenRequest requiresRepublish?:*bool seLinuxMount?:*bool nodeAllocatableUpdatePeriodSeconds?:*int64 serviceAccountTokenInSecrets?:*bool preventPodSchedulingIfMissing?:*bool
CSINode metadata?:meta.ObjectMeta spec:CSINodeSpec
CSINodeDriver name:string nodeID:string topologyKeys:[]string allocatable?:*VolumeNodeResources
CSINodeSpec drivers:[]CSINodeDriver
StorageClass metadata?:meta.ObjectMeta provisioner:string parameters?:{}string reclaimPolicy?:*$PersistentVolumeReclaimPolicy mountOptions?:[]string allowVolumeExpansion?:*bool volumeBindingMode?:*$VolumeBindingMode allowedTopologies?:[]core.TopologySelectorTerm
TokenRequest audience:string expirationSeconds?:*int64
VolumeAttachment metadata?:meta.ObjectMeta spec:VolumeAttachmentSpec status?:VolumeAttachmentStatus
VolumeAttachmentSource persistentVolumeName?:*string inlineVolumeSpec?:*core.PersistentVolumeSpec
VolumeAttachmentSpec attacher:string source:VolumeAttachmentSource nodeName:string
VolumeAttachmentStatus attached:bool attachmentMetadata?:{}string attachError?:*VolumeError detachError?:*VolumeError
VolumeError time?:Time message?:string errorCode?:*int32
VolumeNodeResources count?:*int32
`;

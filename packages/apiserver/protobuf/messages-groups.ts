/** The messages of the other groups and of metadata, one a line in the notation that `messages.ts` reads. Facts of Kubernetes 1.36, printed from its Go types. */
export const GROUP_MESSAGES = `
# admissionregistration
MatchCondition 1:name:s 2:expression:s
MutatingWebhook 1:name:s 2:clientConfig:WebhookClientConfig 3:rules:[]RuleWithOperations 4:failurePolicy:s 5:namespaceSelector:meta.LabelSelector 6:sideEffects:s 7:timeoutSeconds:i 8:admissionReviewVersions:[]s 9:matchPolicy:s 10:reinvocationPolicy:s 11:objectSelector:meta.LabelSelector 12:matchConditions:[]MatchCondition
MutatingWebhookConfiguration 1:metadata:meta.ObjectMeta 2:webhooks:[]MutatingWebhook
Rule 1:apiGroups:[]s 2:apiVersions:[]s 3:resources:[]s 4:scope:s
RuleWithOperations 1:operations:[]s 2:+:Rule
ServiceReference 1:namespace:s 2:name:s 3:path:s 4:port:i
ValidatingWebhook 1:name:s 2:clientConfig:WebhookClientConfig 3:rules:[]RuleWithOperations 4:failurePolicy:s 5:namespaceSelector:meta.LabelSelector 6:sideEffects:s 7:timeoutSeconds:i 8:admissionReviewVersions:[]s 9:matchPolicy:s 10:objectSelector:meta.LabelSelector 11:matchConditions:[]MatchCondition
ValidatingWebhookConfiguration 1:metadata:meta.ObjectMeta 2:webhooks:[]ValidatingWebhook
WebhookClientConfig 1:service:ServiceReference 2:caBundle:x 3:url:s
# apiextensions
CustomResourceColumnDefinition 1:name:s 2:type:s 3?:format:s 4?:description:s 5?:priority:i 6:jsonPath:s
CustomResourceConversion 1:strategy:s 2:webhook:WebhookConversion
CustomResourceDefinition 1:metadata:meta.ObjectMeta 2:spec:CustomResourceDefinitionSpec 3:status:CustomResourceDefinitionStatus
CustomResourceDefinitionCondition 1:type:s 2:status:s 3:lastTransitionTime:time 4?:reason:s 5?:message:s 6?:observedGeneration:i
CustomResourceDefinitionNames 1:plural:s 2?:singular:s 3:shortNames:[]s 4:kind:s 5?:listKind:s 6:categories:[]s
CustomResourceDefinitionSpec 1:group:s 3:names:CustomResourceDefinitionNames 4:scope:s 7:versions:[]CustomResourceDefinitionVersion 9:conversion:CustomResourceConversion 10?:preserveUnknownFields:b
CustomResourceDefinitionStatus 1:conditions:[]CustomResourceDefinitionCondition 2:acceptedNames:CustomResourceDefinitionNames 3:storedVersions:[]s 4?:observedGeneration:i
CustomResourceDefinitionVersion 1:name:s 2:served:b 3:storage:b 4:schema:CustomResourceValidation 5:subresources:CustomResourceSubresources 6:additionalPrinterColumns:[]CustomResourceColumnDefinition 7?:deprecated:b 8:deprecationWarning:s 9:selectableFields:[]SelectableField
CustomResourceSubresourceScale 1:specReplicasPath:s 2:statusReplicasPath:s 3:labelSelectorPath:s
CustomResourceSubresourceStatus
CustomResourceSubresources 1:status:CustomResourceSubresourceStatus 2:scale:CustomResourceSubresourceScale
CustomResourceValidation 1:openAPIV3Schema:JSONSchemaProps
ExternalDocumentation 1?:description:s 2?:url:s
JSONSchemaProps 1?:id:s 2?:$schema:s 3:$ref:s 4?:description:s 5?:type:s 6?:format:s 7?:title:s 8:default:json 9:maximum:d 10?:exclusiveMaximum:b 11:minimum:d 12?:exclusiveMinimum:b 13:maxLength:i 14:minLength:i 15?:pattern:s 16:maxItems:i 17:minItems:i 18?:uniqueItems:b 19:multipleOf:d 20:enum:[]json 21:maxProperties:i 22:minProperties:i 23:required:[]s 24:items:schemaorarray 25:allOf:[]JSONSchemaProps 26:oneOf:[]JSONSchemaProps 27:anyOf:[]JSONSchemaProps 28:not:JSONSchemaProps 29:properties:{JSONSchemaProps 30:additionalProperties:schemaorbool 31:patternProperties:{JSONSchemaProps 32:dependencies:{schemaorstrings 33:additionalItems:schemaorbool 34:definitions:{JSONSchemaProps 35:externalDocs:ExternalDocumentation 36:example:json 37?:nullable:b 38:x-kubernetes-preserve-unknown-fields:b 39?:x-kubernetes-embedded-resource:b 40?:x-kubernetes-int-or-string:b 41:x-kubernetes-list-map-keys:[]s 42:x-kubernetes-list-type:s 43:x-kubernetes-map-type:s 44:x-kubernetes-validations:[]ValidationRule
SelectableField 1:jsonPath:s
ServiceReference 1:namespace:s 2:name:s 3:path:s 4:port:i
ValidationRule 1:rule:s 2?:message:s 3?:messageExpression:s 4:reason:s 5?:fieldPath:s 6:optionalOldSelf:b
WebhookClientConfig 1:service:ServiceReference 2:caBundle:x 3:url:s
WebhookConversion 2:clientConfig:WebhookClientConfig 3:conversionReviewVersions:[]s
# apps
ControllerRevision 1:metadata:meta.ObjectMeta 2:data:json 3:revision:i
DaemonSet 1:metadata:meta.ObjectMeta 2:spec:DaemonSetSpec 3:status:DaemonSetStatus
DaemonSetCondition 1:type:s 2:status:s 3:lastTransitionTime:time 4?:reason:s 5?:message:s
DaemonSetSpec 1:selector:meta.LabelSelector 2:template:core.PodTemplateSpec 3:updateStrategy:DaemonSetUpdateStrategy 4?:minReadySeconds:i 6:revisionHistoryLimit:i
DaemonSetStatus 1:currentNumberScheduled:i 2:numberMisscheduled:i 3:desiredNumberScheduled:i 4:numberReady:i 5?:observedGeneration:i 6?:updatedNumberScheduled:i 7?:numberAvailable:i 8?:numberUnavailable:i 9:collisionCount:i 10:conditions:[]DaemonSetCondition
DaemonSetUpdateStrategy 1?:type:s 2:rollingUpdate:RollingUpdateDaemonSet
Deployment 1:metadata:meta.ObjectMeta 2:spec:DeploymentSpec 3:status:DeploymentStatus
DeploymentCondition 1:type:s 2:status:s 4?:reason:s 5?:message:s 6:lastUpdateTime:time 7:lastTransitionTime:time
DeploymentSpec 1:replicas:i 2:selector:meta.LabelSelector 3:template:core.PodTemplateSpec 4:strategy:DeploymentStrategy 5?:minReadySeconds:i 6:revisionHistoryLimit:i 7?:paused:b 9:progressDeadlineSeconds:i
DeploymentStatus 1?:observedGeneration:i 2?:replicas:i 3?:updatedReplicas:i 4?:availableReplicas:i 5?:unavailableReplicas:i 6:conditions:[]DeploymentCondition 7?:readyReplicas:i 8:collisionCount:i 9:terminatingReplicas:i
DeploymentStrategy 1?:type:s 2:rollingUpdate:RollingUpdateDeployment
ReplicaSet 1:metadata:meta.ObjectMeta 2:spec:ReplicaSetSpec 3:status:ReplicaSetStatus
ReplicaSetCondition 1:type:s 2:status:s 3:lastTransitionTime:time 4?:reason:s 5?:message:s
ReplicaSetSpec 1:replicas:i 2:selector:meta.LabelSelector 3:template:core.PodTemplateSpec 4?:minReadySeconds:i
ReplicaSetStatus 1:replicas:i 2?:fullyLabeledReplicas:i 3?:observedGeneration:i 4?:readyReplicas:i 5?:availableReplicas:i 6:conditions:[]ReplicaSetCondition 7:terminatingReplicas:i
RollingUpdateDaemonSet 1:maxUnavailable:intorstring 2:maxSurge:intorstring
RollingUpdateDeployment 1:maxUnavailable:intorstring 2:maxSurge:intorstring
RollingUpdateStatefulSetStrategy 1:partition:i 2:maxUnavailable:intorstring
StatefulSet 1:metadata:meta.ObjectMeta 2:spec:StatefulSetSpec 3:status:StatefulSetStatus
StatefulSetCondition 1:type:s 2:status:s 3:lastTransitionTime:time 4?:reason:s 5?:message:s
StatefulSetOrdinals 1:start:i
StatefulSetPersistentVolumeClaimRetentionPolicy 1?:whenDeleted:s 2?:whenScaled:s
StatefulSetSpec 1:replicas:i 2:selector:meta.LabelSelector 3:template:core.PodTemplateSpec 4:volumeClaimTemplates:[]core.PersistentVolumeClaim 5:serviceName:s 6?:podManagementPolicy:s 7:updateStrategy:StatefulSetUpdateStrategy 8:revisionHistoryLimit:i 9?:minReadySeconds:i 10:persistentVolumeClaimRetentionPolicy:StatefulSetPersistentVolumeClaimRetentionPolicy 11:ordinals:StatefulSetOrdinals
StatefulSetStatus 1?:observedGeneration:i 2:replicas:i 3?:readyReplicas:i 4?:currentReplicas:i 5?:updatedReplicas:i 6?:currentRevision:s 7?:updateRevision:s 9:collisionCount:i 10:conditions:[]StatefulSetCondition 11:availableReplicas:i
StatefulSetUpdateStrategy 1?:type:s 2:rollingUpdate:RollingUpdateStatefulSetStrategy
# authentication
BoundObjectReference 1?:kind:s 2?:apiVersion:s 3?:name:s 4?:uid:s
SelfSubjectReview 1:metadata:meta.ObjectMeta 2:status:SelfSubjectReviewStatus
SelfSubjectReviewStatus 1:userInfo:UserInfo
TokenRequest 1:metadata:meta.ObjectMeta 2:spec:TokenRequestSpec 3:status:TokenRequestStatus
TokenRequestSpec 1:audiences:[]s 3:boundObjectRef:BoundObjectReference 4:expirationSeconds:i
TokenRequestStatus 1:token:s 2:expirationTimestamp:time
TokenReview 1:metadata:meta.ObjectMeta 2:spec:TokenReviewSpec 3:status:TokenReviewStatus
TokenReviewSpec 1?:token:s 2:audiences:[]s
TokenReviewStatus 1?:authenticated:b 2:user:UserInfo 3?:error:s 4:audiences:[]s
UserInfo 1?:username:s 2?:uid:s 3:groups:[]s 4:extra:{items
# authorization
FieldSelectorAttributes 1?:rawSelector:s 2:requirements:[]meta.FieldSelectorRequirement
LabelSelectorAttributes 1?:rawSelector:s 2:requirements:[]meta.LabelSelectorRequirement
LocalSubjectAccessReview 1:metadata:meta.ObjectMeta 2:spec:SubjectAccessReviewSpec 3:status:SubjectAccessReviewStatus
NonResourceAttributes 1?:path:s 2?:verb:s
NonResourceRule 1:verbs:[]s 2:nonResourceURLs:[]s
ResourceAttributes 1?:namespace:s 2?:verb:s 3?:group:s 4?:version:s 5?:resource:s 6?:subresource:s 7?:name:s 8:fieldSelector:FieldSelectorAttributes 9:labelSelector:LabelSelectorAttributes
ResourceRule 1:verbs:[]s 2:apiGroups:[]s 3:resources:[]s 4:resourceNames:[]s
SelfSubjectAccessReview 1:metadata:meta.ObjectMeta 2:spec:SelfSubjectAccessReviewSpec 3:status:SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec 1:resourceAttributes:ResourceAttributes 2:nonResourceAttributes:NonResourceAttributes
SelfSubjectRulesReview 1:metadata:meta.ObjectMeta 2:spec:SelfSubjectRulesReviewSpec 3:status:SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec 1?:namespace:s
SubjectAccessReview 1:metadata:meta.ObjectMeta 2:spec:SubjectAccessReviewSpec 3:status:SubjectAccessReviewStatus
SubjectAccessReviewSpec 1:resourceAttributes:ResourceAttributes 2:nonResourceAttributes:NonResourceAttributes 3?:user:s 4:groups:[]s 5:extra:{items 6?:uid:s
SubjectAccessReviewStatus 1:allowed:b 2?:reason:s 3?:evaluationError:s 4?:denied:b
SubjectRulesReviewStatus 1:resourceRules:[]ResourceRule 2:nonResourceRules:[]NonResourceRule 3:incomplete:b 4?:evaluationError:s
# autoscaling
CrossVersionObjectReference 1:kind:s 2:name:s 3?:apiVersion:s
HorizontalPodAutoscaler 1:metadata:meta.ObjectMeta 2:spec:HorizontalPodAutoscalerSpec 3:status:HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerSpec 1:scaleTargetRef:CrossVersionObjectReference 2:minReplicas:i 3:maxReplicas:i 4:targetCPUUtilizationPercentage:i
HorizontalPodAutoscalerStatus 1:observedGeneration:i 2:lastScaleTime:time 3:currentReplicas:i 4:desiredReplicas:i 5:currentCPUUtilizationPercentage:i
Scale 1:metadata:meta.ObjectMeta 2:spec:ScaleSpec 3:status:ScaleStatus
ScaleSpec 1?:replicas:i
ScaleStatus 1:replicas:i 2?:selector:s
# batch
CronJob 1:metadata:meta.ObjectMeta 2:spec:CronJobSpec 3:status:CronJobStatus
CronJobSpec 1:schedule:s 2:startingDeadlineSeconds:i 3?:concurrencyPolicy:s 4:suspend:b 5:jobTemplate:JobTemplateSpec 6:successfulJobsHistoryLimit:i 7:failedJobsHistoryLimit:i 8:timeZone:s
CronJobStatus 1:active:[]core.ObjectReference 4:lastScheduleTime:time 5:lastSuccessfulTime:time
Job 1:metadata:meta.ObjectMeta 2:spec:JobSpec 3:status:JobStatus
JobCondition 1:type:s 2:status:s 3:lastProbeTime:time 4:lastTransitionTime:time 5?:reason:s 6?:message:s
JobSpec 1:parallelism:i 2:completions:i 3:activeDeadlineSeconds:i 4:selector:meta.LabelSelector 5:manualSelector:b 6:template:core.PodTemplateSpec 7:backoffLimit:i 8:ttlSecondsAfterFinished:i 9:completionMode:s 10:suspend:b 11:podFailurePolicy:PodFailurePolicy 12:backoffLimitPerIndex:i 13:maxFailedIndexes:i 14:podReplacementPolicy:s 15:managedBy:s 16:successPolicy:SuccessPolicy
JobStatus 1:conditions:[]JobCondition 2:startTime:time 3:completionTime:time 4?:active:i 5?:succeeded:i 6?:failed:i 7?:completedIndexes:s 8:uncountedTerminatedPods:UncountedTerminatedPods 9:ready:i 10:failedIndexes:s 11:terminating:i
JobTemplateSpec 1:metadata:meta.ObjectMeta 2:spec:JobSpec
PodFailurePolicy 1:rules:[]PodFailurePolicyRule
PodFailurePolicyOnExitCodesRequirement 1:containerName:s 2:operator:s 3:values:[]i
PodFailurePolicyOnPodConditionsPattern 1:type:s 2:status:s
PodFailurePolicyRule 1:action:s 2:onExitCodes:PodFailurePolicyOnExitCodesRequirement 3:onPodConditions:[]PodFailurePolicyOnPodConditionsPattern
SuccessPolicy 1:rules:[]SuccessPolicyRule
SuccessPolicyRule 1:succeededIndexes:s 2:succeededCount:i
UncountedTerminatedPods 1:succeeded:[]s 2:failed:[]s
# certificates
CertificateSigningRequest 1:metadata:meta.ObjectMeta 2:spec:CertificateSigningRequestSpec 3:status:CertificateSigningRequestStatus
CertificateSigningRequestCondition 1:type:s 2?:reason:s 3?:message:s 4:lastUpdateTime:time 5:lastTransitionTime:time 6:status:s
CertificateSigningRequestSpec 1:request:x 2?:username:s 3?:uid:s 4:groups:[]s 5:usages:[]s 6:extra:{items 7:signerName:s 8:expirationSeconds:i
CertificateSigningRequestStatus 1:conditions:[]CertificateSigningRequestCondition 2:certificate:x
# coordination
Lease 1:metadata:meta.ObjectMeta 2:spec:LeaseSpec
LeaseSpec 1:holderIdentity:s 2:leaseDurationSeconds:i 3:acquireTime:microtime 4:renewTime:microtime 5:leaseTransitions:i 6:strategy:s 7:preferredHolder:s
# discovery
Endpoint 1:addresses:[]s 2:conditions:EndpointConditions 3:hostname:s 4:targetRef:core.ObjectReference 5:deprecatedTopology:{s 6:nodeName:s 7:zone:s 8:hints:EndpointHints
EndpointConditions 1:ready:b 2:serving:b 3:terminating:b
EndpointHints 1:forZones:[]ForZone 2:forNodes:[]ForNode
EndpointPort 1:name:s 2:protocol:s 3:port:i 4:appProtocol:s
EndpointSlice 1:metadata:meta.ObjectMeta 2:endpoints:[]Endpoint 3:ports:[]EndpointPort 4:addressType:s
ForNode 1:name:s
ForZone 1:name:s
# events
Event 1:metadata:meta.ObjectMeta 2:eventTime:microtime 3:series:EventSeries 4?:reportingController:s 5?:reportingInstance:s 6?:action:s 7?:reason:s 8:regarding:core.ObjectReference 9:related:core.ObjectReference 10?:note:s 11?:type:s 12:deprecatedSource:core.EventSource 13:deprecatedFirstTimestamp:time 14:deprecatedLastTimestamp:time 15?:deprecatedCount:i
EventSeries 1:count:i 2:lastObservedTime:microtime
# meta
Condition 1:type:s 2:status:s 3?:observedGeneration:i 4:lastTransitionTime:time 5:reason:s 6:message:s
DeleteOptions 1:gracePeriodSeconds:i 2:preconditions:Preconditions 3:orphanDependents:b 4:propagationPolicy:s 5:dryRun:[]s 6:ignoreStoreReadErrorWithClusterBreakingPotential:b
FieldSelectorRequirement 1:key:s 2:operator:s 3:values:[]s
LabelSelector 1:matchLabels:{s 2:matchExpressions:[]LabelSelectorRequirement
LabelSelectorRequirement 1:key:s 2:operator:s 3:values:[]s
ManagedFieldsEntry 1?:manager:s 2?:operation:s 3?:apiVersion:s 4:time:time 6?:fieldsType:s 7:fieldsV1:json 8?:subresource:s
ObjectMeta 1?:name:s 2?:generateName:s 3?:namespace:s 4?:selfLink:s 5?:uid:s 6?:resourceVersion:s 7?:generation:i 8:creationTimestamp:time 9:deletionTimestamp:time 10:deletionGracePeriodSeconds:i 11:labels:{s 12:annotations:{s 13:ownerReferences:[]OwnerReference 14:finalizers:[]s 17:managedFields:[]ManagedFieldsEntry
OwnerReference 1:kind:s 3:name:s 4:uid:s 5:apiVersion:s 6:controller:b 7:blockOwnerDeletion:b
Preconditions 1:uid:s 2:resourceVersion:s
# networking
HTTPIngressPath 1?:path:s 2:backend:IngressBackend 3:pathType:s
HTTPIngressRuleValue 1:paths:[]HTTPIngressPath
IPBlock 1:cidr:s 2:except:[]s
Ingress 1:metadata:meta.ObjectMeta 2:spec:IngressSpec 3:status:IngressStatus
IngressBackend 3:resource:core.TypedLocalObjectReference 4:service:IngressServiceBackend
IngressClass 1:metadata:meta.ObjectMeta 2:spec:IngressClassSpec
IngressClassParametersReference 1:apiGroup:s 2:kind:s 3:name:s 4:scope:s 5:namespace:s
IngressClassSpec 1?:controller:s 2:parameters:IngressClassParametersReference
IngressLoadBalancerIngress 1?:ip:s 2?:hostname:s 4:ports:[]IngressPortStatus
IngressLoadBalancerStatus 1:ingress:[]IngressLoadBalancerIngress
IngressPortStatus 1:port:i 2:protocol:s 3:error:s
IngressRule 1?:host:s 2:+:IngressRuleValue
IngressRuleValue 1:http:HTTPIngressRuleValue
IngressServiceBackend 1:name:s 2:port:ServiceBackendPort
IngressSpec 1:defaultBackend:IngressBackend 2:tls:[]IngressTLS 3:rules:[]IngressRule 4:ingressClassName:s
IngressStatus 1:loadBalancer:IngressLoadBalancerStatus
IngressTLS 1:hosts:[]s 2?:secretName:s
NetworkPolicy 1:metadata:meta.ObjectMeta 2:spec:NetworkPolicySpec
NetworkPolicyEgressRule 1:ports:[]NetworkPolicyPort 2:to:[]NetworkPolicyPeer
NetworkPolicyIngressRule 1:ports:[]NetworkPolicyPort 2:from:[]NetworkPolicyPeer
NetworkPolicyPeer 1:podSelector:meta.LabelSelector 2:namespaceSelector:meta.LabelSelector 3:ipBlock:IPBlock
NetworkPolicyPort 1:protocol:s 2:port:intorstring 3:endPort:i
NetworkPolicySpec 1:podSelector:meta.LabelSelector 2:ingress:[]NetworkPolicyIngressRule 3:egress:[]NetworkPolicyEgressRule 4:policyTypes:[]s
ServiceBackendPort 1?:name:s 2?:number:i
# node
Overhead 1:podFixed:{quantity
RuntimeClass 1:metadata:meta.ObjectMeta 2:handler:s 3:overhead:Overhead 4:scheduling:Scheduling
Scheduling 1:nodeSelector:{s 2:tolerations:[]core.Toleration
# policy
Eviction 1:metadata:meta.ObjectMeta 2:deleteOptions:meta.DeleteOptions
PodDisruptionBudget 1:metadata:meta.ObjectMeta 2:spec:PodDisruptionBudgetSpec 3:status:PodDisruptionBudgetStatus
PodDisruptionBudgetSpec 1:minAvailable:intorstring 2:selector:meta.LabelSelector 3:maxUnavailable:intorstring 4:unhealthyPodEvictionPolicy:s
PodDisruptionBudgetStatus 1?:observedGeneration:i 2:disruptedPods:{time 3:disruptionsAllowed:i 4:currentHealthy:i 5:desiredHealthy:i 6:expectedPods:i 7:conditions:[]meta.Condition
# rbac
AggregationRule 1:clusterRoleSelectors:[]meta.LabelSelector
ClusterRole 1:metadata:meta.ObjectMeta 2:rules:[]PolicyRule 3:aggregationRule:AggregationRule
ClusterRoleBinding 1:metadata:meta.ObjectMeta 2:subjects:[]Subject 3:roleRef:RoleRef
PolicyRule 1:verbs:[]s 2:apiGroups:[]s 3:resources:[]s 4:resourceNames:[]s 5:nonResourceURLs:[]s
Role 1:metadata:meta.ObjectMeta 2:rules:[]PolicyRule
RoleBinding 1:metadata:meta.ObjectMeta 2:subjects:[]Subject 3:roleRef:RoleRef
RoleRef 1:apiGroup:s 2:kind:s 3:name:s
Subject 1:kind:s 2?:apiGroup:s 3:name:s 4?:namespace:s
# scheduling
PriorityClass 1:metadata:meta.ObjectMeta 2:value:i 3?:globalDefault:b 4?:description:s 5:preemptionPolicy:s
# storage
CSIDriver 1:metadata:meta.ObjectMeta 2:spec:CSIDriverSpec
CSIDriverSpec 1:attachRequired:b 2:podInfoOnMount:b 3:volumeLifecycleModes:[]s 4:storageCapacity:b 5:fsGroupPolicy:s 6:tokenRequests:[]TokenRequest 7:requiresRepublish:b 8:seLinuxMount:b 9:nodeAllocatableUpdatePeriodSeconds:i 10:serviceAccountTokenInSecrets:b 11:preventPodSchedulingIfMissing:b
CSINode 1:metadata:meta.ObjectMeta 2:spec:CSINodeSpec
CSINodeDriver 1:name:s 2:nodeID:s 3:topologyKeys:[]s 4:allocatable:VolumeNodeResources
CSINodeSpec 1:drivers:[]CSINodeDriver
CSIStorageCapacity 1:metadata:meta.ObjectMeta 2:nodeTopology:meta.LabelSelector 3:storageClassName:s 4:capacity:quantity 5:maximumVolumeSize:quantity
StorageClass 1:metadata:meta.ObjectMeta 2:provisioner:s 3:parameters:{s 4:reclaimPolicy:s 5:mountOptions:[]s 6:allowVolumeExpansion:b 7:volumeBindingMode:s 8:allowedTopologies:[]core.TopologySelectorTerm
TokenRequest 1:audience:s 2:expirationSeconds:i
VolumeAttachment 1:metadata:meta.ObjectMeta 2:spec:VolumeAttachmentSpec 3:status:VolumeAttachmentStatus
VolumeAttachmentSource 1:persistentVolumeName:s 2:inlineVolumeSpec:core.PersistentVolumeSpec
VolumeAttachmentSpec 1:attacher:s 2:source:VolumeAttachmentSource 3:nodeName:s
VolumeAttachmentStatus 1:attached:b 2:attachmentMetadata:{s 3:attachError:VolumeError 4:detachError:VolumeError
VolumeAttributesClass 1:metadata:meta.ObjectMeta 2:driverName:s 3:parameters:{s
VolumeError 1:time:time 2?:message:s 3:errorCode:i
VolumeNodeResources 1:count:i
`;

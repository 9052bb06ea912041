// Follows what the objects of one installation refer to by name or label.

/** Objects that the operator has, by kind, in the values of the folder ci. */
const own = {
  secret: ["waybill", "freight-secrets", "freight-owner", "papers", "papers-environment"],
  configMap: ["company-ca"]
}

/** @returns {Generator<string>} */
export function* referenceFaults(objects) {
  const of = (kind) => objects.filter((each) => each.kind === kind)
  const deployments = of("Deployment")
  const has = (labels, selector) => Object.entries(selector).every(([label, value]) => labels[label] === value)
  const templates = [...deployments, ...of("Job")].map(({ spec }) => spec.template)
  const podsOf = (selector) => [...templates, ...of("Pod")].filter(({ metadata }) => has(metadata.labels, selector))
  for (const { metadata, spec } of deployments) {
    if (podsOf(spec.selector.matchLabels).length !== 1) yield `the pods of Deployment ${metadata.name} are not its own`
    const scaled = of("HorizontalPodAutoscaler").filter((each) => each.spec.scaleTargetRef.name === metadata.name)
    if ((spec.replicas === undefined) !== (scaled.length === 1)) yield `Deployment ${metadata.name} needs replicas or an autoscaler, and not both`
  }
  for (const { metadata, spec } of [...of("Service").map(({ metadata, spec }) => ({ metadata, spec: { selector: { matchLabels: spec.selector } } })), ...of("PodDisruptionBudget")]) {
    if (podsOf(spec.selector.matchLabels).length !== 1) yield `${metadata.name} selects ${podsOf(spec.selector.matchLabels).length} kinds of pods`
  }
  for (const { metadata, spec } of of("Service")) {
    const [pods] = podsOf(spec.selector)
    for (const { targetPort } of spec.ports) if (!pods.spec.containers[0].ports.some(({ name }) => name === targetPort)) yield `Service ${metadata.name} has no port ${targetPort}`
  }
  for (const { metadata, spec } of [...of("NetworkPolicy").map(({ metadata, spec }) => ({ metadata, spec: { selector: spec.podSelector } })), ...of("PodMonitor")]) {
    if (podsOf(spec.selector.matchLabels).length !== deployments.length + 2) yield `${metadata.name} does not select all pods`
  }
  for (const { spec } of of("Ingress")) {
    for (const { backend } of spec.rules.flatMap(({ http }) => http.paths)) {
      const service = of("Service").find(({ metadata }) => metadata.name === backend.service.name)
      if (!service?.spec.ports.some(({ name }) => name === backend.service.port.name)) yield `the Ingress has no Service ${backend.service.name} with a port ${backend.service.port.name}`
    }
  }
  for (const pod of [...templates.map(({ metadata, spec }) => ({ isHook: metadata.labels["app.kubernetes.io/component"] === "migrations", spec })), ...of("Pod")]) {
    yield* podFaults(pod, objects)
  }
  const roles = deployments.map(({ spec }) => spec.template.spec.containers[0].env.find(({ name }) => name === "WAYBILL_ROLE").value).sort()
  if (!["all", "api,worker"].includes(roles.join())) yield `its roles are ${roles.join()}`
}

/** A hook before the installation finds no object of the chart. */
function* podFaults({ isHook = false, spec }, objects) {
  const named = (kind) => isHook ? [] : objects.filter((each) => each.kind === kind).map(({ metadata }) => metadata.name)
  const [container] = spec.containers
  const configMaps = [...named("ConfigMap"), ...own.configMap]
  const sources = [...(container.envFrom ?? []), ...container.env.map(({ valueFrom }) => valueFrom ?? {})]
  const wanted = {
    secret: [...spec.volumes.flatMap(({ secret }) => secret?.secretName ?? []), ...sources.flatMap(({ secretKeyRef, secretRef }) => (secretKeyRef ?? secretRef)?.name ?? [])],
    configMap: [...spec.volumes.flatMap(({ configMap }) => configMap?.name ?? []), ...sources.flatMap(({ configMapRef }) => configMapRef?.name ?? [])]
  }
  for (const name of wanted.secret) if (!own.secret.includes(name)) yield `there is no Secret ${name}`
  for (const name of wanted.configMap) if (!configMaps.includes(name)) yield `there is no ConfigMap ${name}${isHook ? " before the installation" : ""}`
  if (!["default", ...named("ServiceAccount")].includes(spec.serviceAccountName ?? "default")) yield `there is no ServiceAccount ${spec.serviceAccountName}`
  const volumes = spec.volumes.map(({ name }) => name)
  for (const { name } of container.volumeMounts) if (!volumes.includes(name)) yield `there is no volume ${name}`
  const files = spec.volumes.flatMap(({ name, configMap, secret }) =>
    ((configMap ?? secret)?.items ?? []).map(({ path }) => `${container.volumeMounts.find((mount) => mount.name === name)?.mountPath}/${path}`))
  for (const { name, value } of container.env) {
    if (/_FILE$|_CERTS$/.test(name) && !files.includes(value)) yield `${name} names ${value}, which no volume has`
  }
  if (spec.securityContext.runAsUser !== 1000 || spec.securityContext.runAsNonRoot !== true) yield "a pod does not run as user 1000"
  if (container.securityContext.readOnlyRootFilesystem !== true) yield "the root file system of a pod can be written"
}

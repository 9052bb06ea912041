{{/* Processes of one role, with their autoscaler and disruption budget: dict "root" $ "component" "server" "name" … "role" "all" "values" .Values.server */}}
{{- define "waybill.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .name }}
  labels:
    {{- include "waybill.labels" . | nindent 4 }}
spec:
  {{- if not .values.autoscaling.enabled }}
  replicas: {{ .values.replicas }}
  {{- end }}
  selector:
    matchLabels:
      {{- include "waybill.selectorLabels" . | nindent 6 }}
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: 0
      maxSurge: 1
  template:
    metadata:
      labels:
        {{- include "waybill.labels" . | nindent 8 }}
        {{- with .values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        # new settings restart the processes
        checksum/settings: {{ include "waybill.settings" .root | sha256sum }}
        {{- with .values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ include "waybill.serviceAccountName" .root }}
      {{- include "waybill.podSecurity" .root | nindent 6 }}
      # longer than WAYBILL_DRAIN_DELAY_SECONDS and WAYBILL_DRAIN_SECONDS together
      terminationGracePeriodSeconds: {{ include "waybill.stopSeconds" .root }}
      {{- with .values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      {{- with .values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      topologySpreadConstraints:
        {{- if .values.topologySpreadConstraints }}
        {{- toYaml .values.topologySpreadConstraints | nindent 8 }}
        {{- else }}
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "waybill.selectorLabels" . | nindent 14 }}
        {{- end }}
      containers:
        - name: waybill
          image: {{ include "waybill.image" .root | quote }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          args: [serve]
          {{- include "waybill.environment" . | nindent 10 }}
          ports:
            - name: http
              containerPort: 8080
            - name: admin
              containerPort: 9090
          # without the migrations' Job the first start applies them
          startupProbe:
            httpGet:
              path: /healthz
              port: http
            periodSeconds: 2
            failureThreshold: 60
          livenessProbe:
            httpGet:
              path: /healthz
              port: http
            periodSeconds: 10
            timeoutSeconds: 5
          # notices a stop well within WAYBILL_DRAIN_DELAY_SECONDS
          readinessProbe:
            httpGet:
              path: /readyz
              port: http
            periodSeconds: 2
            timeoutSeconds: 2
            failureThreshold: 2
          resources:
            {{- toYaml .values.resources | nindent 12 }}
          securityContext:
            {{- toYaml .root.Values.securityContext | nindent 12 }}
          {{- include "waybill.volumeMounts" .root | nindent 10 }}
      {{- include "waybill.volumes" .root | nindent 6 }}
{{- with .values.podDisruptionBudget }}
{{- if .enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $.name }}
  labels:
    {{- include "waybill.labels" $ | nindent 4 }}
spec:
  maxUnavailable: {{ .maxUnavailable }}
  selector:
    matchLabels:
      {{- include "waybill.selectorLabels" $ | nindent 6 }}
{{- end }}
{{- end }}
{{- with .values.autoscaling }}
{{- if .enabled }}
---
# Each process needs WAYBILL_POOL_SIZE + 2 connections of Postgres, so max_connections bounds all replicas together.
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ $.name }}
  labels:
    {{- include "waybill.labels" $ | nindent 4 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ $.name }}
  minReplicas: {{ .minReplicas }}
  maxReplicas: {{ .maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: {{ .targetCpuPercent }}
  behavior:
    scaleDown:
      stabilizationWindowSeconds: {{ .scaleDownStabilizationSeconds }}
{{- end }}
{{- end }}
{{- end }}

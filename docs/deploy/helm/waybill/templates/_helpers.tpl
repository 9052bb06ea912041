{{- define "waybill.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{/* Short enough for the longest suffix in a name of 63 characters. */}}
{{- define "waybill.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "waybill.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "waybill.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "waybill.releaseLabels" -}}
app.kubernetes.io/name: {{ include "waybill.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Labels of an object. A component names its part: dict "root" $ "component" "server". */}}
{{- define "waybill.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | trunc 63 | trimSuffix "-" | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{ include "waybill.releaseLabels" .root }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "waybill.selectorLabels" -}}
{{ include "waybill.releaseLabels" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "waybill.image" -}}
{{- $repository := required "image.repository is not set. Build the image from the repository's Dockerfile, push it, and set image.repository to its name." .Values.image.repository -}}
{{- if .Values.image.digest }}
{{- printf "%s@%s" $repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" $repository (.Values.image.tag | default .Chart.AppVersion) }}
{{- end }}
{{- end }}

{{- define "waybill.secret" -}}
{{- required "secrets.existingSecret is not set. Create a Secret with the keys database-url, operator-key and sealing-key, and set secrets.existingSecret to its name." .Values.secrets.existingSecret }}
{{- end }}

{{- define "waybill.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- .Values.serviceAccount.name | default (include "waybill.fullname" .) }}
{{- else }}
{{- .Values.serviceAccount.name | default "default" }}
{{- end }}
{{- end }}

{{/* A setting as text: YAML reads off as false, and Helm reads 31536000 as 3.1536e+07. */}}
{{- define "waybill.text" -}}
{{- if kindIs "bool" . }}{{ ternary "on" "off" . }}
{{- else if kindIs "float64" . }}{{ if eq (floor .) . }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- else }}{{ . }}
{{- end }}
{{- end }}

{{/* The settings of the server's own names. An ingress sets the headers that WAYBILL_TRUST_PROXY trusts. */}}
{{- define "waybill.settings" -}}
{{- $settings := deepCopy .Values.settings }}
{{- if and .Values.ingress.enabled (not (hasKey $settings "WAYBILL_TRUST_PROXY")) }}
{{- $_ := set $settings "WAYBILL_TRUST_PROXY" "on" }}
{{- end }}
{{- range $name, $value := $settings }}
{{- printf "%s: %s\n" $name (include "waybill.text" $value | quote) }}
{{- end }}
{{- end }}

{{/* Seconds for WAYBILL_DRAIN_DELAY_SECONDS and WAYBILL_DRAIN_SECONDS, and ten for what comes after. */}}
{{- define "waybill.stopSeconds" -}}
{{- $seconds := 10 }}
{{- range $name, $fallback := dict "WAYBILL_DRAIN_DELAY_SECONDS" 5 "WAYBILL_DRAIN_SECONDS" 10 }}
{{- $seconds = addf $seconds (float64 (get $.Values.settings $name | default (hasKey $.Values.settings $name | ternary 0 $fallback))) }}
{{- end }}
{{- ceil $seconds | int64 }}
{{- end }}

{{- define "waybill.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Authorities of the database's, the identity provider's and the receivers' certificates, besides those of Node. */}}
{{- define "waybill.hasCustomCa" -}}
{{- if and .Values.customCa.configMap .Values.customCa.secret }}{{ fail "customCa has a configMap and a secret. Set one of them." }}{{ end }}
{{- or .Values.customCa.configMap .Values.customCa.secret }}
{{- end }}

{{- define "waybill.customCaVolume" -}}
- name: custom-ca
  {{- with .Values.customCa.configMap }}
  configMap:
    name: {{ . }}
    items:
  {{- end }}
  {{- with .Values.customCa.secret }}
  secret:
    secretName: {{ . }}
    items:
  {{- end }}
      - key: {{ .Values.customCa.key }}
        path: ca.crt
{{- end }}

{{/* What one process of the server needs: its environment and its volumes. dict "root" $ "role" "all" */}}
{{- define "waybill.environment" -}}
envFrom:
  - configMapRef:
      name: {{ include "waybill.fullname" .root }}
  {{- with .root.Values.extraEnvFrom }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
env:
  - name: WAYBILL_ROLE
    value: {{ .role }}
  - name: WAYBILL_PORT
    value: "8080"
  # /operator, /dashboard and /metrics answer on this port only
  - name: WAYBILL_ADMIN_PORT
    value: "9090"
  - name: WAYBILL_DATA_DIR
    value: /var/lib/waybill
  {{- range include "waybill.secretFiles" .root | fromYamlArray }}
  - name: {{ .variable }}
    value: /run/secrets/waybill/{{ .path }}
  {{- end }}
  {{- if include "waybill.hasCustomCa" .root }}
  - name: NODE_EXTRA_CA_CERTS
    value: /etc/waybill-ca/ca.crt
  {{- end }}
  {{- with .root.Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* The keys of the Secret that are used, each with its file and the variable that names the file. */}}
{{- define "waybill.secretFiles" -}}
{{- $keys := .Values.secrets.keys }}
- { variable: WAYBILL_DATABASE_URL_FILE, key: {{ $keys.databaseUrl | quote }}, path: database-url }
- { variable: WAYBILL_OPERATOR_KEY_FILE, key: {{ $keys.operatorKey | quote }}, path: operator-key }
- { variable: WAYBILL_SEALING_KEY_FILE, key: {{ $keys.sealingKey | quote }}, path: sealing-key }
{{- with $keys.readDatabaseUrl }}
- { variable: WAYBILL_READ_DATABASE_URL_FILE, key: {{ . | quote }}, path: read-database-url }
{{- end }}
{{- with $keys.smtpUrl }}
- { variable: WAYBILL_SMTP_URL_FILE, key: {{ . | quote }}, path: smtp-url }
{{- end }}
{{- end }}

{{- define "waybill.volumeMounts" -}}
volumeMounts:
  - name: secrets
    mountPath: /run/secrets/waybill
    readOnly: true
  - name: data
    mountPath: /var/lib/waybill
  - name: tmp
    mountPath: /tmp
  {{- if include "waybill.hasCustomCa" . }}
  - name: custom-ca
    mountPath: /etc/waybill-ca
    readOnly: true
  {{- end }}
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "waybill.volumes" -}}
volumes:
  - name: secrets
    secret:
      secretName: {{ include "waybill.secret" . }}
      defaultMode: 0440
      items:
        {{- range include "waybill.secretFiles" . | fromYamlArray }}
        - key: {{ .key }}
          path: {{ .path }}
        {{- end }}
  - name: data
    emptyDir: {}
  - name: tmp
    emptyDir: {}
  {{- if include "waybill.hasCustomCa" . }}
  {{- include "waybill.customCaVolume" . | nindent 2 }}
  {{- end }}
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

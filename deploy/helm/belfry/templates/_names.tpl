{{- define "belfry.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "belfry.selector" -}}
app.kubernetes.io/name: belfry
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "belfry.labels" -}}
{{ include "belfry.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "belfry.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "belfry.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "belfry.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* Changes with the content of each Secret that the pods read, as it is in the cluster: Belfry reads them at its start only. */}}
{{- define "belfry.secretsChecksum" -}}
{{- $names := list .Values.database.secret .Values.keySecret }}
{{- range .Values.extraEnv }}
{{- $names = append $names (dig "valueFrom" "secretKeyRef" "name" "" .) }}
{{- end }}
{{- $contents := dict }}
{{- range $name := compact $names }}
{{- $_ := set $contents $name (lookup "v1" "Secret" $.Release.Namespace $name | dig "data" (dict)) }}
{{- end }}
{{- $contents | toJson | sha256sum }}
{{- end }}

{{/* Name of the chart, as labels carry it. */}}
{{- define "k8s-aibom.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* Name of the objects: the release's, with the chart's where that does not contain it. */}}
{{- define "k8s-aibom.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 53 | trimSuffix "-" }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 53 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 53 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "k8s-aibom.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "k8s-aibom.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* Labels by which pods are selected. They must not change in the life of a release. */}}
{{- define "k8s-aibom.selectorLabels" -}}
app.kubernetes.io/name: {{ include "k8s-aibom.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Labels of every object. commonLabels cannot replace the chart's own. */}}
{{- define "k8s-aibom.labels" -}}
{{- $own := include "k8s-aibom.selectorLabels" . | fromYaml }}
{{- $_ := set $own "app.kubernetes.io/version" (.Chart.AppVersion | replace "+" "_" | trunc 63) }}
{{- $_ := set $own "app.kubernetes.io/managed-by" .Release.Service }}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-") }}
{{- merge $own .Values.commonLabels | toYaml }}
{{- end }}

{{/* Reference of the image: by digest where one is given. */}}
{{- define "k8s-aibom.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}
{{- end }}

{{/* Values that contradict each other; the schema cannot say why. */}}
{{- define "k8s-aibom.check" -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.leaderElection.enabled) }}
{{- fail "replicas is above 1 while leaderElection.enabled is false: every pod would write. Enable leader election or use one replica." }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.enabled) }}
{{- fail "metrics.serviceMonitor.enabled needs metrics.enabled: there is no Service to scrape otherwise." }}
{{- end }}
{{- if eq (int .Values.metrics.port) 8081 }}
{{- fail "metrics.port is 8081, which is the port of the probes. Use another one." }}
{{- end }}
{{- end }}

# Sends a notification with PowerShell 7:
#   $env:BELFRY_URL = 'http://127.0.0.1:8080'; $env:BELFRY_TOKEN = 'bfy_…'
#   ./send.ps1 -Title 'Disk full' -Message 'C: is at 97 %' -Level error
param(
    [Parameter(Mandatory)] [string] $Title,
    [Parameter(Mandatory)] [string] $Message,
    [string] $Level = 'info'
)
$ErrorActionPreference = 'Stop'

$request = @{
    Method = 'Post'
    Uri = "$env:BELFRY_URL/api/notify"
    # One key for all attempts: it is stored once.
    Headers = @{ Authorization = "Bearer $env:BELFRY_TOKEN"; 'Idempotency-Key' = [guid]::NewGuid().ToString() }
    ContentType = 'application/json; charset=utf-8'
    Body = @{ title = $Title; message = $Message; level = $Level; host = [Environment]::MachineName } | ConvertTo-Json
    MaximumRetryCount = 6
    RetryIntervalSec = 5
}
(Invoke-RestMethod @request).id

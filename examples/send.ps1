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
    Uri = "$($env:BELFRY_URL.TrimEnd('/'))/api/notify"
    # One key for all attempts: it is stored once.
    Headers = @{ Authorization = "Bearer $env:BELFRY_TOKEN"; 'Idempotency-Key' = [guid]::NewGuid().ToString() }
    ContentType = 'application/json; charset=utf-8'
    Body = @{ title = $Title; message = $Message; level = $Level; host = [Environment]::MachineName } | ConvertTo-Json
    TimeoutSec = 15
}
# Tries again for a minute while the server is away or busy. -MaximumRetryCount would repeat refusals, and no lost connections.
$until = (Get-Date).AddMinutes(1)
for ($wait = 1; ; $wait = [Math]::Min(2 * $wait, 8)) {
    try {
        return (Invoke-RestMethod @request).id
    } catch {
        # Without an answer the status is 0.
        $answer = $_.Exception.Response
        $status = [int]$answer.StatusCode
        $wait = [Math]::Max($wait, [double]$answer.Headers.RetryAfter.Delta.TotalSeconds)
        $mayPass = $status -eq 0 -or $status -eq 429 -or $status -ge 500
        if (-not $mayPass -or (Get-Date).AddSeconds($wait) -gt $until) { throw }
        Start-Sleep -Seconds $wait
    }
}

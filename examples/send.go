// Sends a notification, with nothing but the standard library of Go 1.24 or newer:
//
//	BELFRY_URL=http://127.0.0.1:8080 BELFRY_TOKEN=bfy_… go run send.go "Disk full" "/var is at 97 %" error
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

type notification struct {
	Title   string `json:"title"`
	Message string `json:"message"`
	Level   string `json:"level,omitempty"`
	Host    string `json:"host,omitempty"`
}

// send returns the id. It tries again for a minute while the server is away or busy; the notification is stored once.
func send(url, token string, n notification) (string, error) {
	body, err := json.Marshal(n)
	if err != nil {
		return "", err
	}
	key := rand.Text()
	client := &http.Client{Timeout: 15 * time.Second}
	until := time.Now().Add(time.Minute)
	for wait := 500 * time.Millisecond; ; wait = min(2*wait, 8*time.Second) {
		id, retryAfter, err := attempt(client, url, token, key, body)
		wait = max(wait, retryAfter)
		if err == nil || retryAfter < 0 || time.Now().Add(wait).After(until) {
			return id, err
		}
		time.Sleep(wait)
	}
}

// attempt answers how long the server asks to wait; less than zero when trying again cannot help.
func attempt(client *http.Client, url, token, key string, body []byte) (string, time.Duration, error) {
	request, err := http.NewRequest("POST", strings.TrimRight(url, "/")+"/api/notify", bytes.NewReader(body))
	if err != nil {
		return "", -1, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	response, err := client.Do(request)
	if err != nil {
		return "", 0, err
	}
	defer response.Body.Close()
	var answer struct{ ID, Error string }
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return "", 0, err
	}
	_ = json.Unmarshal(text, &answer)
	if response.StatusCode == http.StatusOK {
		return answer.ID, 0, nil
	}
	err = fmt.Errorf("%s: %s", response.Status, answer.Error)
	if response.StatusCode != http.StatusTooManyRequests && response.StatusCode < 500 {
		return "", -1, err
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	return "", time.Duration(seconds) * time.Second, err
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: send TITLE MESSAGE [LEVEL]")
		os.Exit(2)
	}
	host, _ := os.Hostname()
	n := notification{Title: os.Args[1], Message: os.Args[2], Host: host}
	if len(os.Args) > 3 {
		n.Level = os.Args[3]
	}
	id, err := send(os.Getenv("BELFRY_URL"), os.Getenv("BELFRY_TOKEN"), n)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(id)
}

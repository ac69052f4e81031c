// Sends a notification from an ESP32 when a door opens (a contact between pin 4 and ground).
// Board "esp32" by Espressif; no other library.
#include <HTTPClient.h>
#include <WiFi.h>
#include <esp_random.h>

const char *ssid = "…";
const char *password = "…";
const char *url = "http://192.168.1.10:8080/api/notify";
const char *token = "bfy_…";
const int doorPin = 4;

// Returns whether the server has it. A repeat with the same key is stored once.
bool send(const String &title, const String &message, const char *level, const String &key) {
  HTTPClient http;
  http.setTimeout(15000);
  if (!http.begin(url)) return false;
  http.addHeader("Authorization", String("Bearer ") + token);
  http.addHeader("Idempotency-Key", key);
  http.addHeader("X-Title", title);
  http.addHeader("X-Level", level);
  http.addHeader("X-Host", WiFi.getHostname());
  // A door that opens again replaces its card on the panels.
  http.addHeader("X-Key", "door");
  http.addHeader("Content-Type", "text/plain; charset=utf-8");
  const int status = http.POST(message);
  http.end();
  // 429 and 5xx may succeed later; any other refusal never does.
  return status > 0 && status < 500 && status != 429;
}

void setup() {
  pinMode(doorPin, INPUT_PULLUP);
  WiFi.begin(ssid, password);
}

void loop() {
  static bool wasOpen = false;
  const bool isOpen = digitalRead(doorPin) == HIGH;
  if (isOpen && !wasOpen) {
    const String key = String(esp_random(), HEX) + String(esp_random(), HEX);
    for (int wait = 500; !send("Door", "The door is open.", "warning", key); wait = min(wait * 2, 8000)) delay(wait);
  }
  wasOpen = isOpen;
  delay(50);
}

-- expands: older nodes may go on
-- A delivery may be of what happened to an alarm: then `position` is that of the entry, and `notification` is the one that the channel
-- had of the alarm.
ALTER TABLE deliveries
  ADD COLUMN event text COLLATE "C",      -- what happened; null: it is of the notification itself
  ADD COLUMN reference text COLLATE "C";  -- what the receiver calls the message, if updates need it

-- `wanted`: which values of the setting `updates` take the event, by kind of channel; `channel`: from which it came.
ALTER TYPE alarm_action ADD ATTRIBUTE wanted jsonb, ADD ATTRIBUTE channel text;

-- Queues what happened to an alarm for the channels that had a notification of it, in the transaction of its entry. Of an alarm without a
-- key, these are the notifications that its escalations replaced. Nothing, if the alarm has ended, or the entry is its end.
CREATE FUNCTION queue_update(entry log, shown live, at_position bigint, at bigint, new_event text, wanted jsonb, except_channel text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  ids text[] := ARRAY[entry.id::text];
  earlier jsonb := entry.route;
BEGIN
  IF wanted IS NULL OR shown.row IS NULL OR NOT is_alarm(entry.key, entry.rank) THEN
    RETURN;
  END IF;
  WHILE earlier ? 'escalates' AND cardinality(ids) <= 100 LOOP
    ids := ids || (earlier->>'escalates');
    earlier := (SELECT g.route FROM find_entry(entry.tenant, (earlier->>'escalates')::uuid) g);
  END LOOP;
  INSERT INTO deliveries (tenant, channel, position, notification, state, queued_at, event)
  SELECT entry.tenant, c.id, at_position, had.notification, 'pending', at, new_event
  FROM (
    SELECT DISTINCT ON (d.channel) d.channel, d.notification FROM (
      SELECT * FROM deliveries WHERE tenant = entry.tenant AND notification = ANY (ids)
      UNION ALL
      SELECT * FROM deliveries WHERE tenant = entry.tenant AND open_key = entry.key
    ) d WHERE d.event IS NULL AND d.state <> 'failed' AND d.queued_at >= coalesce(shown.since, entry.at) ORDER BY d.channel, d.position DESC
  ) had
  JOIN channels c ON c.tenant = entry.tenant AND c.id = had.channel AND c.enabled = 1
  WHERE c.id IS DISTINCT FROM except_channel
    AND wanted->c.kind ? coalesce(c.settings::jsonb->>'updates', CASE WHEN c.settings::jsonb ? 'stateTopic' THEN 'state' ELSE '' END)
  FOR KEY SHARE OF c;
END $$;

-- As before, and queues it for channels.
CREATE OR REPLACE FUNCTION do_on_alarm(entry log, shown live, a alarm_action) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  new_position bigint;
  new_event constant text := CASE a.kind WHEN 'acknowledge' THEN 'acknowledged' WHEN 'unacknowledge' THEN 'unacknowledged' WHEN 'shelve' THEN 'shelved'
    WHEN 'unshelve' THEN 'unshelved' WHEN 'clear' THEN 'ended' END;
  new_shelf text := CASE WHEN a.kind = 'shelve' THEN jsonb_build_object('at', a.at, 'by', a."by", 'note', a.note, 'until', a.until, 'rank', entry.rank) END;
BEGIN
  IF a.kind = 'clear' THEN
    new_position := take_off(shown, a.at, a."by", 'cleared', a.note);
    INSERT INTO alarm_entries VALUES (entry.tenant, entry.row, new_position);
    PERFORM queue_update(entry, shown, new_position, a.at, new_event, a.wanted, a.channel);
    RETURN new_position;
  ELSIF a.kind = 'assign' THEN
    UPDATE live l SET owner = a.owner WHERE l.tenant = entry.tenant AND l.rank = entry.rank AND l.position = entry.position;
    RETURN add_change(entry, a.at, a."by", 'assigned', a.owner, NULL);
  ELSIF a.kind = 'acknowledge' THEN
    INSERT INTO acknowledgements VALUES (entry.tenant, entry.row, a.at, a."by", a.note, a.until)
      ON CONFLICT (tenant, row) DO UPDATE SET at = excluded.at, "by" = excluded."by", note = excluded.note, until = excluded.until;
  ELSIF a.kind IN ('unacknowledge', 'shelve') THEN
    DELETE FROM acknowledgements k WHERE k.tenant = entry.tenant AND k.row = entry.row;
  END IF;
  UPDATE live l SET shelved = new_shelf, returns_at = a.until, suppressed = NULL, next_step_at = CASE WHEN a.kind LIKE 'un%' THEN l.step_at END
    WHERE l.tenant = entry.tenant AND l.rank = entry.rank AND l.position = entry.position
    AND (l.shelved, l.returns_at, l.next_step_at) IS DISTINCT FROM (new_shelf, a.until, CASE WHEN a.kind LIKE 'un%' THEN l.step_at END);
  -- An alarm that is open again may have a cause: those that it follows count as new.
  IF a.kind LIKE 'un%' AND shown.follows IS NOT NULL THEN
    UPDATE alarm_causes c SET is_new = true WHERE c.tenant = entry.tenant
      AND c.key = ANY (array(SELECT jsonb_array_elements_text(shown.follows::jsonb)));
  END IF;
  new_position := add_change(entry, a.at, a."by", new_event, a.note, a.until);
  PERFORM queue_update(entry, shown, new_position, a.at, new_event, a.wanted, a.channel);
  IF a.kind = 'unshelve' THEN
    PERFORM queue_returned(entry, a.at);
  END IF;
  RETURN new_position;
END $$;

-- As before, and queues the end for channels.
DROP FUNCTION clear_notification(bigint, uuid, text, bigint, text);
CREATE FUNCTION clear_notification(of_tenant bigint, of_id uuid, new_by text, new_at bigint, new_reason text DEFAULT 'cleared',
  wanted_by jsonb DEFAULT NULL)
RETURNS TABLE (kind text, at_position bigint, of_route jsonb) LANGUAGE plpgsql AS $$
DECLARE
  wanted log;
  shown live;
  new_position bigint;
BEGIN
  PERFORM 1 FROM logs WHERE tenant = of_tenant FOR UPDATE;
  SELECT g.* INTO wanted FROM find_entry(of_tenant, of_id) g;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'not-found', NULL::bigint, NULL::jsonb;
    RETURN;
  END IF;
  SELECT * INTO shown FROM live l WHERE l.tenant = of_tenant AND l.rank = wanted.rank AND l.position = wanted.position
    AND (l.expires_at IS NULL OR l.expires_at > new_at);
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'not-live', NULL::bigint, NULL::jsonb;
    RETURN;
  END IF;
  IF new_reason = 'replaced' THEN
    PERFORM hand_over(shown, new_by::uuid);
  END IF;
  new_position := take_off(shown, new_at, new_by, new_reason);
  PERFORM queue_update(wanted, shown, new_position, new_at, 'ended', wanted_by, NULL);
  RETURN QUERY SELECT 'cleared', new_position, wanted.route;
END $$;
